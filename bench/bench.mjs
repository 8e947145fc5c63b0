/*
 * `npm run bench [-- <name>…] [--rounds=5] [--slice=6000] [--samples=1000] [--quick] [--no-build] [--out=FILE] [--main=FILE]`: every group
 * of figures, or those that are named, on an embedded PostgreSQL with default durability. All groups together are written
 * to bench/results.md as well, figure by figure, so that nothing is lost where it breaks off. A group that fails costs the
 * others nothing; the exit code is 1 where a bar is missed or a group broke off. See bench/README.md.
 */
import { fork, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { inOneLine, table } from './parts/figures.mjs';
import { page } from './parts/page.mjs';

/** In the order of the page; those that share filled databases stand together. */
const GROUPS = {
  release: 'Release → RUNNING over HTTP',
  hot: 'Create, promote, report',
  submit: 'Submissions over HTTP, and the peers',
  quiet: 'The first submission after a quiet while',
  blocked: 'A submission that cannot go',
  cycle: 'A full cycle over HTTP',
  claim: 'Release → next claim answered',
  sweep: 'One sweep that promotes many',
  start: 'Start and memory',
  reads: 'What a sweep and a heartbeat ask the database',
  queue: 'The queue as it is shown',
  overhead: 'What Nest costs',
  blobs: 'Outputs up and down',
  hostile: 'How others fare while one caller does their worst',
};

/** A group that says nothing for so long hangs: it is ended. The longest slice is a minute, the largest fill less than that. */
const SILENCE_MS = 600_000;
/** What a group is given to end by itself, and with it what it has started. */
const GRACE_MS = 10_000;

const root = join(import.meta.dirname, '..');
const { values: flags, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: 'string' },
    slice: { type: 'string' },
    samples: { type: 'string' },
    quick: { type: 'boolean', default: false },
    'no-build': { type: 'boolean', default: false },
    out: { type: 'string' },
    main: { type: 'string' },
  },
});
const unknown = positionals.filter((name) => !(name in GROUPS));
if (unknown.length > 0) {
  process.stderr.write(`There is no group ${unknown.join(', ')}; there are ${Object.keys(GROUPS).join(', ')}.\n`);
  process.exit(64);
}
// Another program than this one, where the two are to be compared; the groups are processes of their own.
if (flags.main) process.env.BENCH_MAIN = flags.main;
const chosen = positionals.length > 0 ? positionals : Object.keys(GROUPS);
const whole = positionals.length === 0 && !flags.quick;
const out = flags.out ?? (whole ? join(root, 'bench/results.md') : undefined);
const count = (name, real, quick) => Number(flags[name] ?? (flags.quick ? quick : real));
const options = {
  quick: flags.quick,
  rounds: count('rounds', 5, 2),
  // Whole for each of eight clients, as pgbench needs it.
  slice: Math.ceil(count('slice', 6000, 64) / 8) * 8,
  samples: count('samples', 1000, 20),
};
if (![options.rounds, options.slice, options.samples].every((value) => Number.isInteger(value) && value > 0)) {
  process.stderr.write('--rounds, --slice and --samples are whole numbers above 0.\n');
  process.exit(64);
}

if (!flags['no-build']) {
  const nest = join(root, 'node_modules/@nestjs/cli/bin/nest.js');
  const { status } = spawnSync(process.execPath, [nest, 'build'], { cwd: root, stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}
const { startServer } = await import('./parts/server.mjs');

const began = new Date();
const command = ['npm run bench', ...(process.argv.length > 2 ? ['--', ...process.argv.slice(2)] : [])].join(' ');
const results = [];
const stop = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => stop.abort(signal));

/** Runs a group to its end; what it finds is in `result` at once, those figures too that were found before it broke. */
function run(name, url, result) {
  const since = performance.now();
  const child = fork(join(import.meta.dirname, 'group.mjs'), [JSON.stringify({ name, options: { ...options, url } })]);
  const seconds = () => ((performance.now() - since) / 1000).toFixed(0);
  const end = (error) => {
    result.error ??= error;
    // Its channel closes: it ends, and with it what it has started.
    if (child.connected) child.disconnect();
    setTimeout(() => child.kill('SIGKILL'), GRACE_MS).unref();
  };
  const stopped = () => end(`stopped by ${stop.signal.reason}`);
  stop.signal.addEventListener('abort', stopped);
  const hangs = setTimeout(() => end(`it said nothing for ${SILENCE_MS / 60_000} minutes`), SILENCE_MS);
  child.on('message', ({ figure, line, error }) => {
    hangs.refresh();
    result.seconds = seconds();
    if (error) result.error ??= error;
    if (figure) result.figures.push(figure);
    if (figure) save();
    if (line ?? figure) process.stderr.write(`  ${name} ${seconds()} s: ${line ?? inOneLine(figure)}\n`);
  });
  return new Promise((resolve) => {
    child.on('exit', (code, signal) => {
      clearTimeout(hangs);
      stop.signal.removeEventListener('abort', stopped);
      result.seconds = seconds();
      if (code !== 0) result.error ??= `it ended with ${code ?? signal}`;
      resolve(result);
    });
  });
}

function save() {
  if (!out) return;
  const missing = chosen.filter((name) => !results.some((result) => result.name === name));
  writeFileSync(out, page({ began, command, options, results, missing, dataDir: postgres.dataDir }));
}

const postgres = await startServer();
let honest;
try {
  const { error } = await run('self-test', postgres.url, { figures: [] });
  honest = error === undefined;
  process.stdout.write(
    honest
      ? 'The reference and the program leave the same rows.\n'
      : `Nothing is measured, since the comparison would not be honest: ${error}\n`,
  );
  for (const [index, name] of (honest ? chosen : []).entries()) {
    if (stop.signal.aborted) break;
    const minutes = ((Date.now() - began.getTime()) / 60_000).toFixed(1);
    process.stderr.write(`${name}: group ${index + 1} of ${chosen.length}, after ${minutes} minutes\n`);
    const result = { name, title: GROUPS[name], figures: [], seconds: '0' };
    results.push(result);
    await run(name, postgres.url, result);
    process.stdout.write(`\n${GROUPS[name]} (${name}, ${result.seconds} s)\n${table(result.figures)}\n`);
    if (result.error) process.stdout.write(`BROKE OFF: ${result.error}\n`);
    save();
  }
} finally {
  await postgres.stop();
}
const missed = results.flatMap(({ figures }) => figures.filter(({ holds }) => holds === false));
const broken = results.filter(({ error }) => error !== undefined);
process.stdout.write(
  `\n${missed.length} bars are missed, ${broken.length} groups broke off, ${chosen.length - results.length} were not begun.\n`,
);
// Bars say nothing of a run that only tries whether everything works.
const failed = !honest || stop.signal.aborted || broken.length > 0 || (missed.length > 0 && !flags.quick);
process.exit(failed ? 1 : 0);
