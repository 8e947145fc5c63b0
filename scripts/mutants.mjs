/*
 * `npm run test:mutants [-- --no-build] [name…]`: does each line that keeps a promise have a test that fails without it?
 * test/mutants lists changes of one line, each with the spec that must fail. Each spec is run as it is, and must pass; then
 * each change is made, in a copy of the tree, and its spec must fail: by a test, not since it does not load, and not since
 * PostgreSQL cannot read a statement. Two at a time, over one PostgreSQL. A name chooses changes of that room or that name.
 */
import { spawn, spawnSync } from 'node:child_process';
import { cp, mkdtemp, open, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ROOMS } from '../test/mutants/all.mjs';

const AT_ONCE = 2;
/** A run that takes longer hangs, and gives no report. */
const LONGEST_MS = 300_000;
/** Syntax errors, unknown names and types: PostgreSQL could not read the statement. */
const UNREADABLE = ['42601', '42P01', '42P02', '42P08', '42P10', '42P18', '42703', '42804', '42846', '42883'];

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const args = process.argv.slice(2);
const build = args[0] !== '--no-build';
if (!build) args.shift();

const mutants = Object.entries(ROOMS)
  .flatMap(([room, list]) => list.map((one) => ({ ...one, room })))
  .filter(({ room, name }) => args.length === 0 || args.includes(room) || args.includes(name));
if (mutants.length === 0) {
  process.stderr.write(`There is no change ${args.join(', ')}; rooms are ${Object.keys(ROOMS).join(', ')}.\n`);
  process.exit(2);
}
if (build && spawnSync('npm', ['run', '-s', 'build'], { cwd: root, stdio: 'inherit' }).status !== 0) process.exit(1);

const since = performance.now();
const secondsSince = (then) => `${((performance.now() - then) / 1000).toFixed(1).padStart(6)} s`;
const line = (...columns) => process.stdout.write(`${columns.join('  ')}\n`);

/** The tree in a folder of its own; only what is installed is shared. */
async function copyTree(folder) {
  const left = new Set(['.git', '.mediator', 'bench', 'coverage', 'node_modules']);
  for (const part of await readdir(root)) {
    if (!left.has(part)) await cp(join(root, part), join(folder, part), { recursive: true });
  }
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'), 'dir');
  return folder;
}

const children = new Set();

/** Runs a spec, or those of its tests that a pattern names; gives what Jest counted, and its process id. */
async function runSpec(folder, url, { spec, test }) {
  const report = join(folder, 'report.json');
  await rm(report, { force: true });
  const jest = join(root, 'node_modules/jest/bin/jest.js');
  const flags = [
    '--experimental-vm-modules',
    '--disable-warning=ExperimentalWarning',
    jest,
    '--runInBand',
    '--forceExit',
  ];
  const wanted = ['--runTestsByPath', spec, ...(test === undefined ? [] : ['--testNamePattern', test])];
  const child = spawn(process.execPath, [...flags, '--json', '--outputFile', report, ...wanted], {
    cwd: folder,
    env: { ...process.env, TEST_DATABASE_URL: url },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  children.add(child);
  const said = [];
  child.stderr.on('data', (chunk) => said.push(chunk));
  const timer = setTimeout(() => child.kill('SIGKILL'), LONGEST_MS);
  await new Promise((resolve) => child.once('close', resolve));
  clearTimeout(timer);
  children.delete(child);
  const counted = await readFile(report, 'utf8').then(JSON.parse, () => undefined);
  return { counted, pid: child.pid, said: Buffer.concat(said).toString() };
}

/** What became of a run: 'passed', 'failed' by a test, or what is wrong with the run itself. */
function judge({ counted }, unreadable) {
  if (counted === undefined) return { verdict: 'no report' };
  if (counted.numRuntimeErrorTestSuites > 0) return { verdict: 'does not load' };
  if (unreadable) return { verdict: 'statement cannot be read' };
  const ran = counted.testResults.flatMap(({ assertionResults }) => assertionResults);
  const failed = ran.filter(({ status }) => status === 'failed');
  if (failed.length > 0) return { verdict: 'failed', by: failed[0].fullName };
  return { verdict: ran.some(({ status }) => status === 'passed') ? 'passed' : 'no such test' };
}

/** Tells whether PostgreSQL could not read a statement of this process's databases, by what it has logged so far. */
function watchLog(dataDir) {
  if (dataDir === undefined) return async () => false;
  return async (pid) => {
    const log = await open(join(dataDir, 'postgres.log'));
    try {
      for await (const one of log.readLines()) {
        const [state, database = ''] = one.split(' ', 2);
        if (UNREADABLE.includes(state) && database.startsWith(`test_${pid}_`)) return true;
      }
      return false;
    } finally {
      await log.close();
    }
  };
}

/** Takes one thing after the other, in each of the folders. */
async function each(folders, things, work) {
  const left = [...things];
  const one = async (folder) => {
    for (let thing = left.shift(); thing !== undefined; thing = left.shift()) await work(folder, thing);
  };
  await Promise.all(folders.map(one));
}

async function make(folder, { name, file, take, put }) {
  const path = join(folder, file);
  const text = await readFile(path, 'utf8');
  const parts = text.split(take);
  if (parts.length !== 2) throw new Error(`${name}: what it takes out stands in ${file} ${parts.length - 1} times`);
  await writeFile(path, parts.join(put));
  return () => writeFile(path, text);
}

const temporary = await mkdtemp(join(tmpdir(), 'mediator-mutants-'));
let postgres;
async function cleanUp() {
  for (const child of children) child.kill('SIGKILL');
  await postgres?.stop();
  await rm(temporary, { recursive: true, force: true });
}
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => void cleanUp().then(() => process.exit(1)));

let bad = 0;
try {
  const { startPostgres } = await import('../test/support/start-postgres.mjs');
  postgres = await startPostgres({ log_line_prefix: '%e %d ' });
  const isUnreadable = watchLog(postgres.dataDir);
  const folders = await Promise.all(
    Array.from({ length: AT_ONCE }, (_, index) => copyTree(join(temporary, String(index)))),
  );

  const specs = [...new Set(mutants.map(({ spec }) => spec))];
  line(`${specs.length} specs as they are`);
  await each(folders, specs, async (folder, spec) => {
    const then = performance.now();
    const run = await runSpec(folder, postgres.url, { spec });
    const { verdict } = judge(run, false);
    line(verdict.padEnd(8), secondsSince(then), spec);
    if (verdict === 'passed') return;
    bad += 1;
    line(run.said);
  });
  if (bad === 0) {
    line(`${mutants.length} changes`);
    await each(folders, mutants, async (folder, mutant) => {
      const then = performance.now();
      const undo = await make(folder, mutant);
      let outcome;
      try {
        const run = await runSpec(folder, postgres.url, mutant);
        outcome = judge(run, await isUnreadable(run.pid));
      } finally {
        await undo();
      }
      const killed = outcome.verdict === 'failed';
      if (!killed) bad += 1;
      const verdict = killed ? 'killed' : outcome.verdict === 'passed' ? 'SURVIVED' : outcome.verdict.toUpperCase();
      line(verdict.padEnd(8), secondsSince(then), `${mutant.room}/${mutant.name}`.padEnd(44), outcome.by ?? mutant.why);
    });
    line(`${mutants.length - bad} of ${mutants.length} killed, in ${secondsSince(since).trim()}`);
  }
} finally {
  await cleanUp();
}
process.exit(bad === 0 ? 0 : 1);
