/*
 * `npm run check`: every check, the cheap ones first. One line for each, with its time; the output of those that failed.
 * All of them run, whatever failed before. Arguments choose checks by name: `npm run check -- types lint`.
 * A check that needs the compiled program takes the one that `build` has just made.
 */
import { spawn } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const CHECKS = [
  ['format', 'npm run -s format:check'],
  ['types', 'npm run -s types'],
  ['architecture', 'npm run -s architecture'],
  ['unused', 'npm run -s unused'],
  ['lint', 'npm run -s lint'],
  ['build', 'npm run -s build'],
  ['schema', 'npm run -s schema -- --check --no-build'],
  ['openapi', 'npm run -s openapi -- --check'],
  ['lint:openapi', 'npm run -s lint:openapi'],
  ['tests', 'npm test -s -- --no-build'],
];

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const names = CHECKS.map(([name]) => name);
const chosen = process.argv.slice(2);
const unknown = chosen.filter((name) => !names.includes(name));
if (unknown.length > 0) {
  process.stderr.write(`There is no check ${unknown.join(', ')}; there are ${names.join(', ')}.\n`);
  process.exit(2);
}

/** Gives the exit code and what was written, in its order. */
function run(command) {
  return new Promise((resolve) => {
    const child = spawn(command, { cwd: root, shell: true, stdio: ['ignore', 'pipe', 'pipe'] });
    const output = [];
    child.stdout.on('data', (chunk) => output.push(chunk));
    child.stderr.on('data', (chunk) => output.push(chunk));
    child.on('error', (error) => resolve({ code: 1, output: String(error) }));
    child.on('close', (code) => resolve({ code: code ?? 1, output: Buffer.concat(output).toString() }));
  });
}

let failed = 0;
for (const [name, command] of CHECKS) {
  if (chosen.length > 0 && !chosen.includes(name)) continue;
  const since = performance.now();
  const stillRunning = setInterval(() => {
    process.stdout.write(
      `…      ${name.padEnd(12)} ${((performance.now() - since) / 1000).toFixed(0).padStart(4)}   s\n`,
    );
  }, 30_000);
  const { code, output } = await run(command);
  clearInterval(stillRunning);
  const seconds = ((performance.now() - since) / 1000).toFixed(1).padStart(6);
  process.stdout.write(`${code === 0 ? 'ok    ' : 'FAILED'} ${name.padEnd(12)} ${seconds} s\n`);
  if (code === 0) {
    // What Jest closes a run with: .ci/run adds up these lines.
    for (const [line] of output.matchAll(/^\S*Tests: .*$/gm)) process.stdout.write(`${line}\n`);
  } else {
    failed += 1;
    process.stdout.write(`$ ${command}\n${output}\n`);
  }
}
process.exit(failed === 0 ? 0 : 1);
