/*
 * `npm run test:storm [-- name…]`: the tests of test/storm with far more tries than in `npm test`, then a table of what was
 * tried, how often, and what was lost. Names choose suites: `npm run test:storm -- crashes fuzz`. Takes about half an hour.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
/** What measures time runs when nothing else does. */
const ALONE = ['load'];

const suites = readdirSync(join(root, 'test/storm')).flatMap((file) => /^(.+)\.spec\.ts$/.exec(file)?.[1] ?? []);
const chosen = process.argv.slice(2);
const unknown = chosen.filter((name) => !suites.includes(name));
if (unknown.length > 0) {
  process.stderr.write(`There is no storm ${unknown.join(', ')}; there are ${suites.join(', ')}.\n`);
  process.exit(64);
}
const wanted = chosen.length > 0 ? chosen : suites;

const folder = mkdtempSync(join(tmpdir(), 'mediator-storm-'));
const report = join(folder, 'report');
writeFileSync(report, '');

function run(...args) {
  const env = { ...process.env, STORM_REPORT: report };
  return spawnSync(process.execPath, args, { cwd: root, stdio: 'inherit', env }).status === 0;
}

function storm(names, ...flags) {
  if (names.length === 0) return true;
  return run(
    '--experimental-vm-modules',
    '--disable-warning=ExperimentalWarning',
    join(root, 'node_modules/jest/bin/jest.js'),
    `--testPathPatterns=test/storm/(${names.join('|')})\\.spec`,
    ...flags,
  );
}

let whole = run(join(root, 'node_modules/@nestjs/cli/bin/nest.js'), 'build');
if (whole) {
  const together = storm(wanted.filter((name) => !ALONE.includes(name)));
  const alone = storm(
    wanted.filter((name) => ALONE.includes(name)),
    '--runInBand',
  );
  whole = together && alone;
}

const lines = readFileSync(report, 'utf8').split('\n').filter(Boolean).map(JSON.parse);
rmSync(folder, { recursive: true });
const table = [
  ['what was tried', 'times', 'looked at', '', 'lost'],
  ...lines.map(({ what, times, checked, of, lost }) => [what, String(times), String(checked), of, String(lost)]),
];
const widths = table[0].map((_, column) => Math.max(...table.map((row) => row[column].length)));
const isNumber = [false, true, true, false, true];
for (const [index, row] of table.entries()) {
  const cells = row.map((cell, i) => (isNumber[i] ? cell.padStart(widths[i]) : cell.padEnd(widths[i])));
  process.stdout.write(`${cells.join('  ')}\n`);
  if (index === 0) process.stdout.write(`${widths.map((width) => '─'.repeat(width)).join('  ')}\n`);
}
const lost = lines.reduce((sum, line) => sum + line.lost, 0);
process.stdout.write(`${whole && lost === 0 ? 'Nothing was lost.' : 'FAILED: see above.'}\n`);
process.exit(whole && lost === 0 ? 0 : 1);
