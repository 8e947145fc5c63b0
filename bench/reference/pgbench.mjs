/*
 * The same statements sent by Debian's pgbench, where that is installed: a client that costs almost nothing. The values of
 * a transaction come from a table, in the statement itself, so that there is one round trip here too.
 */
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DERIVED } from '../fill/kinds.mjs';
import { assignedTo, STATEMENTS, STEPS, verdictOf } from './bare.mjs';

/** The columns that stand for $1, $2 and so on. */
const PARAMETERS = {
  create: [
    ...['run_id', 'contract', 'contract_hash', 'requires', 'signature', 'assigned', 'node_id', 'offer_rev', 'steps'],
    ...DERIVED.map(({ name }) => name),
  ],
  promote: ['run_id', 'assigned', 'node_id', 'offer_rev', 'whys'],
  settle: ['run_id', 'node_id', 'nonce', 'verdict'],
};
const PICKED = "WITH picked AS MATERIALIZED (SELECT * FROM bench_todo WHERE n = (SELECT nextval('bench_todo_n'))),";

export const hasPgbench = () => spawnSync('pgbench', ['--version']).status === 0;

function scriptOf(verb) {
  const statement = STATEMENTS[verb].replace(/^--.*\n/gm, '').replace('WITH', PICKED);
  return `${statement.trim().replace(/\$(\d+)/g, (_, index) => `(SELECT ${PARAMETERS[verb][index - 1]} FROM picked)`)};\n`;
}

export class Pgbench {
  constructor(client, url) {
    this.client = client;
    const { searchParams, pathname } = new URL(url.replace('@/', '@localhost/'));
    this.place = ['-h', searchParams.get('host'), '-U', 'mediator', pathname.slice(1)];
    this.folder = mkdtempSync(join(tmpdir(), 'mediator-pgbench-'));
    for (const verb of Object.keys(STATEMENTS)) writeFileSync(join(this.folder, verb), scriptOf(verb));
  }

  start() {
    return this.client.query(
      `CREATE TABLE bench_todo (n bigint PRIMARY KEY, run_id text COLLATE "C", contract json, contract_hash text, requires json,
         signature text, assigned json, node_id text COLLATE "C", offer_rev bigint, steps json, whys text[], nonce text, verdict json
         ${DERIVED.map(({ name, type }) => `, ${name} ${type}`).join('')});
       CREATE SEQUENCE bench_todo_n`,
    );
  }

  /** Does the tasks, so many clients at a time; those that do not divide by the clients are left out. */
  async batch(verb, clients, tasks) {
    const rows = tasks.map(({ run_id, node, kind, nonce }, index) => {
      const own = { n: index + 1, run_id, node_id: node, nonce, offer_rev: 1, whys: ['result'], steps: STEPS };
      // Of a kind, what the table has no column for is left out.
      return { ...kind, ...own, assigned: assignedTo(node), verdict: verdictOf(node) };
    });
    await this.client.query('TRUNCATE bench_todo; ALTER SEQUENCE bench_todo_n RESTART');
    await this.client.query('INSERT INTO bench_todo SELECT * FROM json_populate_recordset(null::bench_todo, $1)', [
      JSON.stringify(rows),
    ]);
    await this.client.query('ANALYZE bench_todo');
    const each = Math.floor(tasks.length / clients);
    const args = ['-n', '-M', 'prepared', '-c', String(clients), '-j', '1', '-t', String(each)];
    const output = await run('pgbench', [...args, '-f', join(this.folder, verb), ...this.place]);
    const perSecond = Number(/^tps = ([\d.]+) \(without/m.exec(output)?.[1]);
    if (!(perSecond > 0) || !output.includes(`transactions actually processed: ${each * clients}/`)) {
      throw new Error(`pgbench did not do the work: ${output}`);
    }
    return { seconds: tasks.length / perSecond };
  }

  stop() {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

function run(command, args) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    child.stdout.on('data', (chunk) => (output += chunk));
    child.stderr.on('data', (chunk) => (output += chunk));
    child.on('error', reject);
    child.on('close', (code) =>
      code === 0 ? resolve(output) : reject(new Error(`${command} ended with ${code}: ${output}`)),
    );
  });
}
