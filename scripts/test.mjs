// `npm test`: compiles, unless the first argument is --no-build, then runs every test; further arguments go to Jest.
import { spawnSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');

function run(...args) {
  const { status } = spawnSync(process.execPath, args, { cwd: root, stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}

const args = process.argv.slice(2);
if (args[0] === '--no-build') args.shift();
else run(join(root, 'node_modules/@nestjs/cli/bin/nest.js'), 'build');
run(
  '--experimental-vm-modules',
  '--disable-warning=ExperimentalWarning',
  join(root, 'node_modules/jest/bin/jest.js'),
  ...args,
);
