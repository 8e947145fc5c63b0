// `npm run bench -- <name> [arguments]`: compiles, then runs scripts/bench-<name>.mjs.
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const scripts = dirname(fileURLToPath(import.meta.url));
const names = readdirSync(scripts).flatMap((file) => /^bench-(.+)\.mjs$/.exec(file)?.[1] ?? []);
const args = process.argv.slice(2);
const build = args[0] !== '--no-build';
if (!build) args.shift();
const [name, ...rest] = args;
if (!names.includes(name)) {
  process.stderr.write(`npm run bench -- [--no-build] <name>, which is one of: ${names.join(', ')}\n`);
  process.exit(64);
}

function run(...command) {
  const { status } = spawnSync(process.execPath, command, { cwd: join(scripts, '..'), stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}

if (build) run(join(scripts, '../node_modules/@nestjs/cli/bin/nest.js'), 'build');
run(join(scripts, `bench-${name}.mjs`), ...rest);
