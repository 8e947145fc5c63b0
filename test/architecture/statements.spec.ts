import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import ts from 'typescript';
import { callsOf, type Check, descendants, literalText, place, roomOf, rule, type Source, SRC } from './program.js';

const SQL =
  /^\s*(\/\*.*?\*\/\s*)?(SELECT|INSERT|UPDATE|DELETE|WITH|MERGE|CREATE|ALTER|DROP|TRUNCATE|LISTEN|NOTIFY|SET|RESET|LOCK)\s/;

/** Where SQL stands outside a statement file: plumbing, whose statements belong to no room. */
const PLUMBING: ReadonlySet<string> = new Set([
  // LISTEN, and what is sent over the listening connection.
  'src/platform/notifier/notifier.ts',
  // What a write is composed with.
  'src/platform/database/statement.ts',
  // The lock around the migrations.
  'src/platform/migrations/migrate.ts',
  // CREATE DATABASE, which a server without connections reads from its input.
  'src/platform/embedded/create-cluster.ts',
]);

/** A part of a statement that several have in common. */
const PART = /^\s*[a-z_]+ AS (MATERIALIZED )?\(/;

const isStatementFile = (path: string): boolean => path.endsWith('.sql.ts');

interface Statement {
  text: string;
  where: string;
  /** As it is given to `read` or `write`; undefined for a text that stands elsewhere. */
  name?: string | undefined;
}

/** What a call of `read` or `write` is given under this name, as far as it is literal. */
function givenTo(call: ts.CallExpression, key: string): string | undefined {
  const [spec] = call.arguments;
  if (spec === undefined || !ts.isObjectLiteralExpression(spec)) return undefined;
  const found = spec.properties.find((one) => one.name?.getText() === key);
  return found && ts.isPropertyAssignment(found) ? literalText(found.initializer) : undefined;
}

const madeBy = (file: Source): ts.CallExpression[] => ['read', 'write'].flatMap((name) => callsOf(file, name));

/** The statements that are made by `read` and `write`, each whole, and the other texts that are SQL. */
function statementsOf(file: Source): Statement[] {
  const made = madeBy(file).filter((call) => givenTo(call, 'name') !== undefined);
  const whole = made.map((call) => ({
    text: `${givenTo(call, 'with') ?? ''}\n${givenTo(call, 'text') ?? ''}`,
    where: place(file, call),
    name: givenTo(call, 'name'),
  }));
  const inside = new Set(made.flatMap((call) => descendants(call)));
  const others = descendants(file.tree).flatMap((node) => {
    const text = inside.has(node) ? undefined : literalText(node);
    return text !== undefined && (SQL.test(text) || PART.test(text)) ? [{ text, where: place(file, node) }] : [];
  });
  return [...whole, ...others];
}

rule(
  'SQL stands in statement files',
  SRC.filter(({ path }) => !PLUMBING.has(path)),
  (file) => (isStatementFile(file.path) ? [] : statementsOf(file).map(({ where }) => where)),
  [
    ['src/runs/runs.controller.ts', "class C { get() { return read({ name: 'runs.get', text: 'SELECT 1' }); } }"],
    ['src/runs/cancel-run.ts', 'const CANCEL = `/* runs.cancel */\n UPDATE runs SET state = ${state}`'],
  ],
);

const isNamed: Check = (file) => {
  const named = new RegExp(`^${roomOf(file.path)}\\.[a-z]+(-[a-z]+)*$`);
  return statementsOf(file)
    .filter(({ text, name }) => name !== undefined || !PART.test(text))
    .filter(({ text, name = /^\/\* (\S+) \*\//.exec(text)?.[1] ?? '' }) => !named.test(name))
    .map(({ where, text }) => `${where}: ${text.trim().slice(0, 40)}`);
};

rule(
  'every statement has its name: the room, and what it does there',
  SRC.filter(({ path }) => !PLUMBING.has(path)),
  isNamed,
  [
    ['src/runs/read-run.sql.ts', "const ONE = 'SELECT 1';"],
    ['src/runs/read-run.sql.ts', "read({ name: 'steps.read-run', text: 'SELECT 1' })"],
    ['src/runs/read-run.sql.ts', 'read({ name: `runs.readRun`, text: `SELECT ${columns}` })'],
  ],
);

rule(
  'what is sent is written where it is made: a literal, or a part that has a name',
  SRC.filter(({ path }) => isStatementFile(path)),
  (file) =>
    madeBy(file)
      .filter((call) => givenTo(call, 'text') === undefined && !/\btext: [A-Z_]+,/.test(call.getText()))
      .map((call) => place(file, call)),
  [
    ['src/runs/read-run.sql.ts', "read({ name: 'runs.read', text: READ + ' FOR UPDATE' })"],
    ['src/runs/write-run.sql.ts', "write({ name: 'runs.write', text: update(), rows: 'any' })"],
  ],
);

/** `Promise.all` sends in whatever order its elements come to it, and waits for none that it has not begun. */
rule(
  'statements that go out together are one list: no Promise.all over what a transaction sends',
  SRC,
  (file) =>
    ['all', 'allSettled', 'race']
      .flatMap((name) => callsOf(file, name))
      .filter((call) => /\btx\b/.test(call.getText()))
      .map((call) => place(file, call)),
  [['src/runs/read-run.ts', 'await Promise.all([tx.ask(lockRun(runId)), readRun(tx, runId)]);']],
);

describe('the names of statements', () => {
  const twice = (names: string[]): string[] => names.filter((name, index) => names.indexOf(name) !== index);

  it('are given once', () => {
    const names = SRC.flatMap(statementsOf).flatMap(
      ({ name, text }) => name ?? /^\/\* (\S+) \*\//.exec(text)?.[1] ?? [],
    );
    expect(names.length).toBeGreaterThan(0);
    expect(twice(names)).toEqual([]);
  });

  it('are seen where they are given twice', () => {
    expect(twice(['runs.read', 'steps.read', 'runs.read'])).toEqual(['runs.read']);
  });
});

/** Who may write a table, by the prefix of the path. */
const WRITERS: Record<string, readonly string[]> = {
  ask_notices: ['src/steps/', 'src/asks/'],
  asks: ['src/steps/'],
  attempts: ['src/steps/'],
  blob_chunks: ['src/bodies/'],
  blobs: ['src/bodies/'],
  ended_runs: ['src/steps/'],
  ended_runs_news: ['src/steps/'],
  events: ['src/records/'],
  fleet_changes: ['src/fleet/'],
  grants: ['src/leases/'],
  leases: ['src/leases/'],
  log_chunks: ['src/bodies/'],
  logs: ['src/bodies/'],
  // Fleet writes what an outage changes in an advert, and what is held against a node: the server's word, not the node's.
  nodes: ['src/nodes/', 'src/fleet/fleet.sql.', 'src/fleet/faults.sql.'],
  queue_changes: ['src/queue/'],
  records: ['src/records/'],
  run_bytes: ['src/bodies/'],
  // A run is inserted, promoted and sent back, and ended in three rooms; a claim counts as a change of it.
  runs: ['src/submission/insert-run.', 'src/queue/promote-runs.', 'src/queue/return-run.', 'src/steps/'],
  servers: ['src/reaper/servers/'],
  steps: ['src/steps/'],
};

describe('the tables', () => {
  const schema = readFileSync(join(import.meta.dirname, '../../migrations/schema.sql'), 'utf8');
  const tables = [...schema.matchAll(/^CREATE TABLE (\w+)/gm)].map(([, table]) => table);

  it('each have a room that writes them', () => {
    expect(Object.keys(WRITERS)).toEqual(tables.sort());
  });
});

const writesOnlyItsOwn: Check = (file) =>
  statementsOf(file).flatMap(({ text, where }) =>
    [...text.matchAll(/\b(?:INSERT INTO|UPDATE|DELETE FROM|TRUNCATE)\s+(?:ONLY\s+)?([a-z_]+)/g)]
      .map(([, table = '']) => table)
      .filter((table) => WRITERS[table] && !WRITERS[table].some((prefix) => file.path.startsWith(prefix)))
      .map((table) => `${where} writes ${table}`),
  );

rule('a table is written by the room that keeps it', SRC, writesOnlyItsOwn, [
  [
    'src/reaper/drop-lease.sql.ts',
    "write({ name: 'reaper.drop', text: 'DELETE FROM leases WHERE run_id = $1', rows: 'any' })",
  ],
  ['src/bodies/end.sql.ts', "write({ name: 'bodies.end', text: 'UPDATE runs SET version = 2', rows: 'any' })"],
  ['src/reaper/dropped.sql.ts', 'const DROPPED = `dropped AS (DELETE FROM leases WHERE run_id = $1)`'],
  ['src/runs/end.sql.ts', 'tx.query(`/* runs.end */ WITH x AS (UPDATE steps SET state = $1) SELECT 1`)'],
]);

/** A run's final state has one writer, but for a submission that is rejected; what moves it otherwise is listed too. */
const RUN_STATE_WRITERS: ReadonlySet<string> = new Set([
  'src/queue/promote-runs.sql.ts',
  'src/queue/return-run.sql.ts',
  'src/steps/run-endings.sql.ts',
]);

rule(
  'the state of a run moves in three places',
  SRC,
  (file) =>
    RUN_STATE_WRITERS.has(file.path)
      ? []
      : statementsOf(file)
          .filter(({ text }) =>
            /\bUPDATE\s+runs\b[^;]*?\bSET\b[^;]*?\bstate\s*=(?=[^;]*?\bWHERE\b)/.test(
              text.replace(/\bWHERE\b(.|\n)*/, 'WHERE'),
            ),
          )
          .map(({ where }) => where),
  [
    [
      'src/runs/cancel.sql.ts',
      "tx.query(`/* runs.cancel */ UPDATE runs SET version = 2, state = 'CANCELLED' WHERE run_id = $1`)",
    ],
  ],
);

rule(
  'deadlines and orders go by clock_timestamp(), never by the start of a transaction',
  SRC,
  (file) =>
    statementsOf(file)
      .filter(({ text }) =>
        /\b(now\(\)|CURRENT_TIMESTAMP|CURRENT_TIME|LOCALTIME|transaction_timestamp|statement_timestamp)/i.test(text),
      )
      .map(({ where }) => where),
  [['src/runs/late.sql.ts', "tx.query('/* runs.late */ SELECT run_id FROM runs WHERE ended_at < now()')"]],
);

/** What a grant locks it reads again where it had to wait, and a unique key decides what it inserts: see there. */
const LOCKS_AND_WRITES = /^\s*offered AS MATERIALIZED \(/;

rule(
  'a lock is a statement of its own: what it guards is written later',
  SRC,
  (file) =>
    statementsOf(file)
      .filter(({ text }) => !LOCKS_AND_WRITES.test(text))
      // What is skipped where it is locked waits for nobody, and so sees nothing that is outdated.
      .filter(({ text }) => /\bFOR\s+(NO\s+KEY\s+UPDATE|UPDATE|SHARE|KEY\s+SHARE)\b(?!\s+SKIP LOCKED)/.test(text))
      .filter(({ text }) => /\b(INSERT INTO|UPDATE\s+\w+(\s+\w+)?\s+SET|DELETE FROM)\b/.test(text))
      .map(({ where }) => where),
  [
    [
      'src/runs/take.sql.ts',
      'tx.query(`/* runs.take */ WITH r AS (SELECT FROM runs FOR UPDATE) UPDATE runs SET version = 2`)',
    ],
    [
      'src/runs/taken.sql.ts',
      'const TAKEN = `taken AS (SELECT FROM runs FOR UPDATE), moved AS (UPDATE runs SET version = 2)`',
    ],
  ],
);

/** The innermost SELECT, or the whole statement, that ends in this lock. */
function lockingPart(text: string, lock: number): string {
  let depth = 0;
  for (let at = lock; at > 0; at--) {
    if (text[at] === ')') depth += 1;
    if (text[at] === '(' && depth-- === 0) return text.slice(at + 1, lock);
  }
  return text.slice(0, lock);
}

rule(
  'who waits for a lock looks at the clock behind it: what stands beside a lock is computed before the wait',
  SRC,
  (file) =>
    statementsOf(file)
      .filter(({ text }) =>
        [...text.matchAll(/\bFOR\s+(?:NO\s+KEY\s+UPDATE|UPDATE|SHARE|KEY\s+SHARE)\b(?!\s+SKIP LOCKED)/g)].some(
          ({ index }) => lockingPart(text, index).includes('clock_timestamp('),
        ),
      )
      .map(({ where }) => where),
  [
    [
      'src/nodes/lapsing.sql.ts',
      'tx.query(`/* nodes.lapsing */ SELECT expires_at < clock_timestamp() AS lapsing FROM nodes FOR NO KEY UPDATE`)',
    ],
    [
      'src/leases/live.sql.ts',
      'const LIVE = `live AS (SELECT 1 FROM (SELECT FROM nodes WHERE expires_at > clock_timestamp() FOR SHARE) AS n)`',
    ],
  ],
);

rule(
  'no query builder and no repository: SQL is written out',
  SRC,
  (file) =>
    ['createQueryBuilder', 'getRepository', 'save', 'createEntityManager'].flatMap((name) =>
      callsOf(file, name).map((call) => place(file, call)),
    ),
  [['src/runs/cancel-run.ts', 'await runs.save(run)']],
);

rule(
  'notices are sent by the listening connection, outside writing transactions',
  SRC.filter(({ path }) => path !== 'src/platform/notifier/notifier.ts'),
  (file) =>
    descendants(file.tree)
      .filter((node) => /\bpg_notify\b|^\s*NOTIFY\b/.test(literalText(node) ?? ''))
      .map((node) => place(file, node)),
  [['src/steps/tell.sql.ts', "tx.query(`/* steps.tell */ SELECT pg_notify('mediator_steps', '')`)"]],
);

const isTx = (parameter: ts.ParameterDeclaration): boolean =>
  parameter.type !== undefined && ts.isTypeReferenceNode(parameter.type) && parameter.type.typeName.getText() === 'Tx';

rule(
  'tx comes first and is never optional',
  SRC,
  (file) =>
    descendants(file.tree)
      .filter(ts.isFunctionLike)
      .filter(({ parameters }) =>
        parameters.some((one, index) => isTx(one) && (index > 0 || one.questionToken || one.initializer)),
      )
      .map((one) => place(file, one)),
  [
    ['src/steps/bind.ts', 'export function bind(runId: string, tx: Tx) {}'],
    ['src/steps/bind.ts', 'export function bind(tx?: Tx) {}'],
  ],
);
