/*
 * Whether the comparison is honest: the reference and the program do the same work, side by side on a small database, and
 * must leave the same rows in every table, but for names, times and numbers that are given out in turn. What was filled
 * must keep every constraint and the view `invariants`, and be what the program itself leaves.
 */
import { isDeepStrictEqual } from 'node:util';
import { cell, fleet } from '../fill/cells.mjs';
import { ANY_BOARD, onNode } from '../fill/kinds.mjs';
import { boardName } from '../fill/nodes.mjs';
import { endRuns, fillRuns } from '../fill/runs.mjs';
import { violations } from '../parts/databases.mjs';
import { Program } from '../parts/program.mjs';
import { Bare } from './bare.mjs';

const TABLES = ['runs', 'records', 'steps', 'attempts', 'leases', 'grants', 'events', 'asks', 'blobs', 'logs'];
/** Given out in turn, or at random; and who held the nodes that a run waits for, which filled ones do not tell. */
const OWN = ['seq', 'grant_id', 'id', 'xid', 'nonce', 'wait_holders'];
/** The node of a filled run that goes on. */
const TAKEN = boardName(9);
const TIME = /_at$|^at$|^not_after$/;

export async function selfTest(databases) {
  const database = await databases.clone(await fleet(databases, 20, 50), 'selftest');
  const client = await database.connect();
  const sides = { program: await Program.start(database.url), bare: new Bare(database.url, 1) };
  try {
    const seen = {};
    for (const [index, [name, side]] of Object.entries(sides).entries()) {
      seen[name] = await play(
        client,
        side,
        name,
        [0, 1, 2].map((n) => boardName(index * 3 + n)),
      );
    }
    compare('the reference', seen.program, seen.bare);
    await compareFilled(client, seen.program);
    await compareQueued(client, sides.program);
    expectNone(await violations(client), 'what both left');
    await endRuns(client, '');
    expectNone(await violations(client), 'what was ended between two slices');
  } finally {
    await sides.bare.stop();
    await sides.program.stop();
    await client.end();
    await database.drop();
  }
  await expectSound(databases);
}

/** One run that is created, one that is promoted, one that is settled; gives their rows. */
async function play(client, side, prefix, [first, second, third]) {
  const [created, promoted, settled] = ['created', 'promoted', 'settled'].map((name) => `${prefix}-${name}-`);
  const one = { kinds: [ANY_BOARD], count: 1 };
  await fillRuns(client, { ...one, state: 'queued', prefix: promoted });
  await fillRuns(client, { ...one, state: 'claimed', prefix: settled, nodes: [third] });
  const task = (name, node) => ({ run_id: `${name}0000000`, node, kind: ANY_BOARD, nonce: `nonce-${name}0000000` });
  const tasks = { create: task(created, first), promote: task(promoted, second), settle: task(settled, third) };
  for (const [verb, one] of Object.entries(tasks)) await side[verb](one);
  const rows = {};
  for (const [verb, { run_id, node }] of Object.entries(tasks)) rows[verb] = await rowsOf(client, run_id, node);
  return rows;
}

/** Every row of a run, table by table, without what must differ. */
async function rowsOf(client, runId, node) {
  const found = {};
  for (const table of TABLES) {
    const text = `SELECT to_jsonb(t) AS row FROM ${table} t WHERE run_id = $1 ORDER BY ctid`;
    const { rows } = await client.query(text, [runId]);
    found[table] = rows.map(({ row }) => plain(table, row, runId, node)).sort();
  }
  return found;
}

function plain(table, row, runId, node) {
  const kept = Object.entries(row).flatMap(([key, value]) => {
    if (OWN.includes(key) && !(table === 'steps' || table === 'attempts')) return [];
    if (TIME.test(key)) return [[key, value === null ? null : 'some time']];
    return [[key, value]];
  });
  return JSON.stringify(Object.fromEntries(kept)).replaceAll(runId, 'RUN').replaceAll(node, 'NODE');
}

function compare(what, wanted, got) {
  for (const verb of Object.keys(wanted)) {
    for (const table of TABLES) {
      const [own, other] = [wanted[verb][table], got[verb][table]];
      if (isDeepStrictEqual(own, other)) continue;
      throw new Error(
        `${what} leaves other ${table} than the program (${verb}):\n${own.join('\n')}\nand\n${other.join('\n')}`,
      );
    }
  }
}

/** What is filled as RUNNING and as finished is what the program has created; only the claim between them is not its. */
async function compareFilled(client, program) {
  const one = { kinds: [ANY_BOARD], count: 1 };
  const node = TAKEN;
  await fillRuns(client, { ...one, state: 'bound', prefix: 'filled-bound-', nodes: [node] });
  const bound = await rowsOf(client, 'filled-bound-0000000', node);
  compare('filling', { create: program.create }, { create: bound });
}

/** What is filled as QUEUED is what the program leaves of a submission that has to wait. */
async function compareQueued(client, program) {
  const kind = onNode(TAKEN);
  const id = 'queued-by-the-program';
  await program.submit(id, kind.contract);
  await fillRuns(client, { state: 'queued', kinds: [kind], prefix: 'filled-queued-', count: 1 });
  const [own, filled] = [await rowsOf(client, id, TAKEN), await rowsOf(client, 'filled-queued-0000000', TAKEN)];
  compare('filling', { enqueue: own }, { enqueue: filled });
}

/** Small fills of every sort, with every trigger and foreign key asked. */
async function expectSound(databases) {
  const small = { nodes: 12, queued: 40, signatures: 10, finished: 50 };
  const database = await databases.clone(await cell(databases, small), 'sound');
  const client = await database.connect();
  try {
    expectNone(await violations(client), 'a filled database');
    // A foreign key that was not asked while filling is asked now.
    const { rows } = await client.query(
      `SELECT conrelid::regclass AS "table", conname, pg_get_constraintdef(oid) AS definition FROM pg_constraint
        WHERE contype = 'f' AND connamespace = 'public'::regnamespace`,
    );
    for (const { table, conname, definition } of rows) {
      await client.query(`ALTER TABLE ${table} DROP CONSTRAINT ${conname}, ADD CONSTRAINT ${conname} ${definition}`);
    }
  } finally {
    await client.end();
    await database.drop();
  }
}

function expectNone(found, what) {
  if (found.length > 0) throw new Error(`${what} breaks promises: ${JSON.stringify(found)}`);
}
