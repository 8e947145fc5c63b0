// `npm start`: compiles the program where that is needed, then becomes it, so that signals reach it (`exec` in package.json:
// the shell that npm starts would keep them to itself).
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const main = join(root, 'dist/src/main.js');

function newest(folder) {
  return Math.max(0, ...readdirSync(folder, { recursive: true }).map((name) => statSync(join(folder, name)).mtimeMs));
}

if (
  !existsSync(main) ||
  statSync(main).mtimeMs < Math.max(newest(join(root, 'src')), newest(join(root, 'migrations')))
) {
  process.stdout.write('Compiling, which takes a few seconds the first time …\n');
  const { status } = spawnSync(process.execPath, [join(root, 'node_modules/@nestjs/cli/bin/nest.js'), 'build'], {
    cwd: root,
    stdio: 'inherit',
  });
  if (status !== 0) process.exit(status ?? 1);
}
await import(main);
