import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { optionsBehind } from '../../src/platform/sessions/settings.js';
import { type GrantFilter, readGrantPage } from '../../src/nodes/grants.sql.js';
import { readNodePage } from '../../src/nodes/node-page.sql.js';
import type { Read } from '../../src/platform/database/statement.js';
import type { Keyset } from '../../src/platform/http/cursor.js';
import { readRunPage, type RunFilter } from '../../src/runs/run-page.sql.js';
import { createDatabase, type TestDatabase } from '../support/database.js';

/** A run each minute, which lives for three. They hold one of two nodes, but for the first two. */
const HISTORY = `
  INSERT INTO runs (run_id, state, principal, contract, contract_hash, requires, spread, signature, verdict, created_at, ended_at)
  SELECT 'run-' || n, 'SUCCEEDED', 'test', '{}', repeat('0', 64), '[]', false, 's', '{"reason": "succeeded"}',
         timestamptz '2026-01-01Z' + n * interval '1 min', timestamptz '2026-01-01Z' + (n + 3) * interval '1 min'
    FROM generate_series(1, $1::int) AS n`;
const RECORDS = 'INSERT INTO records (run_id) SELECT run_id FROM runs';
const NODES = `
  INSERT INTO nodes (node_id, label, capabilities, expires_at)
  SELECT node_id, '', '[]', clock_timestamp() FROM unnest('{n0,n1,idle}'::text[]) AS node_id`;
const FLEET = `
  INSERT INTO nodes (node_id, label, capabilities, expires_at)
  SELECT 'node-' || n, '', '[]', 'infinity' FROM generate_series(1, 2000) AS n ON CONFLICT DO NOTHING`;
const GRANTS = `
  INSERT INTO grants (node_id, run_id, roles, granted_at, released_at, why)
  SELECT CASE WHEN seq <= 2 THEN 'idle' ELSE 'n' || seq % 2 END, run_id, '{}', created_at,
         created_at + interval '90 s', 'succeeded'
    FROM runs ORDER BY seq`;
const RUNS = 20_000;

/** A node of a plan, and what stands under it. */
interface Plan {
  'Relation Name'?: string;
  'Index Name'?: string;
  'Actual Rows': number;
  'Actual Loops': number;
  'Rows Removed by Filter'?: number;
  'Rows Removed by Index Recheck'?: number;
  Plans?: Plan[];
}

/** How many rows of tables and entries of indexes it has read. */
function readBy(plan: Plan): number {
  const below = (plan.Plans ?? []).reduce((sum, one) => sum + readBy(one), 0);
  if (plan['Relation Name'] === undefined && plan['Index Name'] === undefined) return below;
  const removed = (plan['Rows Removed by Filter'] ?? 0) + (plan['Rows Removed by Index Recheck'] ?? 0);
  return below + (plan['Actual Rows'] + removed) * plan['Actual Loops'];
}

describe('a page of a list', () => {
  let database: TestDatabase;
  let session: pg.Client;
  beforeAll(async () => {
    database = await createDatabase();
    session = new pg.Client({ connectionString: database.url, options: optionsBehind('') });
    await session.connect();
    await session.query("SET session_replication_role = 'replica'");
    await session.query(HISTORY, [RUNS]);
    for (const text of [RECORDS, NODES, GRANTS, 'ANALYZE']) await session.query(text);
  });
  afterAll(async () => {
    await session.end();
    await database.drop();
  });

  let prepared = 0;
  /** How much is read for a page, by the plan that the program would have. */
  async function cost({ queries }: Read<unknown>): Promise<{ rows: number; read: number }> {
    const { text, params = [] } = queries[0]!;
    const name = `page_${prepared++}`;
    await session.query(`PREPARE ${name} AS ${text}`);
    const given = params.map((param) => (param === null ? 'NULL' : pg.escapeLiteral(String(param)))).join(', ');
    const { rows } = await session.query(`EXECUTE ${name}(${given})`);
    const explained = await session.query(`EXPLAIN (ANALYZE, FORMAT JSON) EXECUTE ${name}(${given})`);
    return { rows: rows.length, read: readBy(explained.rows[0]['QUERY PLAN'][0].Plan) };
  }

  const MORNING = { from: '2026-01-08T08:00:00.000Z', to: '2026-01-08T09:00:00.000Z' };
  const MOMENT = { from: MORNING.from, to: MORNING.from };
  const SINCE_LONG = { from: '2026-01-02T00:00:00.000Z', to: MORNING.to };
  const DEEP = { created_at: '2026-01-03 00:00:00+00', seq: '9999999' };

  it.each<[string, RunFilter, number, Keyset?]>([
    ['all', {}, 10],
    ['all, further on', {}, 10, DEEP],
    ['of a state', { state: 'SUCCEEDED' }, 10],
    ['of a state that none has', { state: 'RUNNING' }, 0],
    ['until then', { to: MORNING.to }, 10],
    ['until then, of a state', { to: MORNING.to, state: 'SUCCEEDED' }, 10],
    ['from then on', { from: MORNING.from }, 10],
    ['of a time', MORNING, 10],
    ['of a time, further on', SINCE_LONG, 10, DEEP],
    ['of a time and a state, further on', { ...SINCE_LONG, state: 'SUCCEEDED' }, 10, DEEP],
    ['of a moment', MOMENT, 3],
    ['of a moment and a state', { ...MOMENT, state: 'SUCCEEDED' }, 3],
    ['of a time and a work', { ...MORNING, work_id: 'w' }, 0],
    ['of a time and a state that none has', { ...MORNING, state: 'QUEUED' }, 0],
    ['of a node', { node_id: 'n1' }, 10],
    ['of a node, further on', { node_id: 'n1' }, 10, DEEP],
    ['of a node until then', { node_id: 'n1', to: MORNING.to }, 10],
    ['of a node and a time', { node_id: 'n1', ...MORNING }, 10],
    ['of a node and a time, further on', { node_id: 'n1', ...SINCE_LONG }, 10, DEEP],
    ['of a node that is idle', { node_id: 'idle' }, 2],
    ['of a node that is idle and a time', { node_id: 'idle', ...MORNING }, 0],
    ['of a node that nobody knows', { node_id: 'x' }, 0],
  ])('of runs reads no history: %s', async (_which, filter, wanted, ...[after]) => {
    const { rows, read } = await cost(readRunPage(filter, 10, after));
    expect(rows).toBe(wanted);
    expect(read).toBeLessThan(120);
  });

  it.each<[string, GrantFilter, number, Keyset?]>([
    ['all', {}, 11],
    ['all, further on', {}, 11, DEEP],
    ['until then', { to: MORNING.to }, 11],
    ['from then on', { from: MORNING.from }, 11],
    ['of a time, further on', SINCE_LONG, 11, DEEP],
    ['of a moment', MOMENT, 2],
    ['of a node', { node_id: 'n1' }, 11],
    ['of a node, further on', { node_id: 'n1' }, 11, DEEP],
    ['of a node until then', { node_id: 'n1', to: MORNING.to }, 11],
    ['of a node and a time, further on', { node_id: 'n1', ...SINCE_LONG }, 11, DEEP],
    ['of a node that is idle', { node_id: 'idle' }, 2],
    ['of a node that is idle and a time', { node_id: 'idle', ...MORNING }, 0],
    ['of a node that nobody knows', { node_id: 'x' }, 0],
    ['of a run', { run_id: 'run-77' }, 1],
  ])('of grants reads no history: %s', async (_which, filter, wanted, ...[after]) => {
    const { rows, read } = await cost(readGrantPage(filter, 10, after));
    expect(rows).toBe(wanted);
    expect(read).toBeLessThan(120);
  });

  it.each<[string, string | undefined]>([
    ['the first', undefined],
    ['one behind it', 'node-1000'],
  ])('of nodes reads no others: %s', async (_which, after) => {
    for (const sql of [FLEET, 'ANALYZE nodes']) await session.query(sql);
    const { rows, read } = await cost(readNodePage({ all: false }, 10, after));
    expect(rows).toBe(10);
    expect(read).toBeLessThan(120);
  });
});
