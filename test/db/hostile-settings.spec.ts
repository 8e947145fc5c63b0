import { raw } from '../support/raw-statement.js';
import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Database } from '../../src/platform/database/database.js';
import { SETTINGS } from '../../src/platform/sessions/settings.js';
import { needs, step } from '../support/contracts.js';
import { createDatabase, type TestDatabase } from '../support/database.js';
import { emptyForRole, type ForeignRole } from '../support/foreign-role.js';
import { startTestMediator, type TestMediator } from '../support/mediator.js';
import { upload, writeLog } from '../support/uploads.js';

jest.setTimeout(60_000);

/** What a role may be given that would change an answer, its order, its time, or what is durable. */
const HOSTILE: Record<string, string> = {
  array_nulls: 'off',
  backslash_quote: 'on',
  bytea_output: 'escape',
  check_function_bodies: 'off',
  client_encoding: "'LATIN1'",
  datestyle: "'German, DMY'",
  default_transaction_deferrable: 'on',
  default_transaction_isolation: "'serializable'",
  enable_bitmapscan: 'off',
  enable_hashjoin: 'on',
  enable_indexscan: 'off',
  enable_mergejoin: 'on',
  enable_nestloop: 'off',
  enable_seqscan: 'on',
  extra_float_digits: '-15',
  idle_in_transaction_session_timeout: '1',
  idle_session_timeout: '50',
  intervalstyle: "'iso_8601'",
  jit: 'on',
  lock_timeout: '1',
  plan_cache_mode: "'force_custom_plan'",
  row_security: 'on',
  search_path: "'elsewhere'",
  standard_conforming_strings: 'off',
  statement_timeout: '5',
  synchronous_commit: 'off',
  timezone: "'Asia/Kathmandu'",
  transform_null_equals: 'on',
};
const OPTIONS =
  '-c lock_timeout=1 -c synchronous_commit=off -c DateStyle=SQL -c search_path=elsewhere -c TimeZone=PST8PDT';
const PARAMETERS = { lock_timeout: '1', statement_timeout: '1', application_name: 'other', query_timeout: '1' };

describe('a database whose role, and whose URL, want everything otherwise', () => {
  const open: { database: TestDatabase; server: TestMediator; role?: ForeignRole }[] = [];
  beforeAll(async () => {
    const plain = await createDatabase();
    open.push({ database: plain, server: await startTestMediator({ database: plain }) });
    const database = await createDatabase();
    const role = await emptyForRole(database, { settings: HOSTILE });
    const more = new URLSearchParams({ options: OPTIONS, ...PARAMETERS });
    const { url } = role.database;
    const hostile = { ...role.database, url: `${url}${url.includes('?') ? '&' : '?'}${more.toString()}` };
    open.push({ database, role, server: await startTestMediator({ database: hostile }) });
  });
  afterEach(async () => {
    for (const { database } of open) expect(await database.sql('SELECT * FROM invariants')).toEqual([]);
  });
  afterAll(async () => {
    for (const { server, role, database } of open) {
      await server.stop();
      await role?.drop();
      await database.drop();
    }
  });

  it('M3: gives the same answers, from a schema that was made under it', async () => {
    const [plain, hostile] = await Promise.all(open.map(({ server }) => mainFlow(server)));
    expect(hostile).toEqual(plain);
  });

  it('M3: each session has what it relies on, the listening one too', async () => {
    const { server, database } = open[1]!;
    const names = Object.keys(SETTINGS);
    const rows = await server.mediator.app
      .get(Database)
      .ask(raw('SELECT name, current_setting(name) AS value FROM unnest($1::text[]) AS name', [names]));
    expect(Object.fromEntries(rows.map(({ name, value }) => [name, value]))).toEqual(SETTINGS);
    const listening = await database.sql(
      "SELECT FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'mediator-listen'",
    );
    expect(listening).toHaveLength(1);
  });
});

/** All that a submitter, a node and a reader do with two runs; what the server or the clock makes up is taken out. */
async function mainFlow(server: TestMediator): Promise<unknown[]> {
  const seen: unknown[] = [];
  const ask = async (...request: Parameters<TestMediator['send']>): Promise<any> => {
    const { status, body } = await server.send(...request);
    seen.push([request[0], request[1], status, plainly(body)]);
    return body;
  };
  const node = server.node('n1', [{ role: 'x', odd: "it's \\ a 'quote' — ß" }]);
  seen.push(plainly((await node.advertise()).body));
  const contract = (run_id: string): object => ({
    run_id,
    requires: [needs('x')],
    steps: [{ ...step('one', 'x'), out: ['result'], timeout_seconds: 3600 }],
    work: { system: 'gerrit', change_id: '4711', at: '2026-02-01', of: [null, 0.1] },
  });
  await ask('POST', '/v1/runs', { body: contract('a') });
  await ask('POST', '/v1/runs', { body: contract('b') });
  await ask('GET', '/v1/queue');
  await ask('GET', '/v1/nodes');
  for (const run of ['a', 'b']) {
    const { status, body: claim } = await node.claim();
    if (status !== 200) throw new Error(JSON.stringify(seen));
    seen.push(plainly(claim));
    await writeLog(server, claim, Buffer.from([0, 39, 92, 255, 10]));
    seen.push((await upload(server, claim, 'result', Buffer.from([92, 0, 39, 255]))).status);
    seen.push(plainly((await node.report(claim)).body));
    await ask('GET', `/v1/runs/${run}`);
    const log = await fetch(`${server.url}/v1/runs/${run}/steps/1/log`);
    seen.push([log.status, [...Buffer.from(await log.arrayBuffer())]]);
    const blob = await fetch(`${server.url}/v1/runs/${run}/blobs/result`);
    seen.push([blob.status, [...Buffer.from(await blob.arrayBuffer())]]);
  }
  await ask('GET', '/v1/runs?limit=1');
  await ask('GET', '/v1/runs?state=SUCCEEDED');
  seen.push(await server.reap());
  return seen;
}

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;
const MADE_UP = new Set(['nonce', 'digest', 'next', 'request_id', 'etag', 'contract_hash']);

function plainly(value: unknown): unknown {
  if (typeof value === 'string') return value.replace(new RegExp(TIME.source.slice(1, -1), 'g'), 'a time');
  if (Array.isArray(value)) return value.map(plainly);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [name, MADE_UP.has(name) ? typeof one : plainly(one)]),
  );
}
