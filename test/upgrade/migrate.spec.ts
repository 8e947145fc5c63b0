import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { MIGRATIONS } from '../../migrations/all.js';
import { question } from '../support/asks.js';
import { needs, R, step } from '../support/contracts.js';
import type { TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { type Send, sender } from '../support/http.js';
import { type PlayedClaim, PlayedNode } from '../support/played-node.js';
import { type SpawnedServer, spawnServer } from '../support/spawned-server.js';
import { upload, writeLog } from '../support/uploads.js';
import { emptyDatabase, VersionBefore } from './version-before.js';

jest.setTimeout(90_000);

/** Nothing runs out by itself while the two take turns. */
const ENV = { MEDIATOR_RENEW_SECONDS: '600', MEDIATOR_NOT_AFTER_FACTOR: '6' };
const OVER = ['succeeded', 'failed', 'cancelled', 'unsatisfiable', 'drained', 'unsealed'];

/** The run that lacked its digest gets it now, and its version counts that; a sentence for a person may be put better. */
function asBefore({ version, record, waiting, ...run }: any): object {
  const { detail: _detail, ...why } = waiting ?? {};
  return { ...run, ...(run.run_id !== 'unsealed' && { version, record }), ...(waiting && { waiting: why }) };
}

describe('a database full of runs of the version before', () => {
  const before = new VersionBefore();
  let database: TestDatabase;
  let server: SpawnedServer;
  let send: Send;
  const nodes = new Map<string, PlayedNode>();
  const claims = new Map<string, PlayedClaim>();
  const old = {
    runs: new Map<string, any>(),
    records: new Map<string, Buffer>(),
    nodes: [] as any[],
    asks: [] as any[],
  };

  /** What is said and shown by whichever server runs. */
  const say: Send = (...request) => send(...request);
  const show = async (runId: string): Promise<any> => (await say('GET', `/v1/runs/${runId}`)).body;
  const node = (name: string): PlayedNode => nodes.get(name)!;
  async function start(spawned: SpawnedServer, ofThisVersion: boolean): Promise<string> {
    server = spawned;
    const url = await server.url();
    send = sender(url, { ofThisVersion });
    return url;
  }
  async function join(name: string, more: Record<string, unknown> = {}): Promise<void> {
    const joining = nodes.get(name) ?? new PlayedNode(say, name, [{ role: name }]);
    joining.instance = `${name}-1`;
    nodes.set(name, joining);
    await joining.advertise(more);
  }
  async function submit(run_id: string, contract: object, wanted = 201): Promise<void> {
    expect([run_id, (await say('POST', '/v1/runs', { body: { ...contract, run_id } })).status]).toEqual([
      run_id,
      wanted,
    ]);
  }
  const downloaded = async (url: string, runId: string): Promise<Buffer> =>
    Buffer.from(await (await fetch(`${url}/v1/runs/${runId}/record`)).arrayBuffer());

  beforeAll(async () => {
    database = await emptyDatabase();
    const url = await start(before.spawn({ DATABASE_URL: database.url, ...ENV }), false);
    for (const name of ['over', 'held', 'loop', 'asks', 'more', 'pick', 'gone', 'drain']) await join(name);

    await submit('succeeded', R('over', { steps: [step('only', 'over', { out: ['made'] })] }));
    const made = (await node('over').claim()).body;
    await upload({ url }, made, 'made', 'some bytes');
    await writeLog({ url }, made, 'a line\n');
    await node('over').report(made);
    await submit('failed', R('over'));
    await node('over').work({ exit_code: 3 });
    await submit('cancelled', R('over'));
    await say('POST', '/v1/runs/cancelled/cancel');
    await submit('unsatisfiable', R('nowhere'), 422);
    await submit('drained', R('drain', { steps: [step('one', 'drain'), step('two', 'drain')] }));
    await node('drain').work();
    await join('drain', { drain: 'at-boundary' });
    await submit('unsealed', R('over'));
    await node('over').work();
    // As a crash between the end and the seal leaves it; past the trigger that refuses just that.
    await database.sql(`
      DO $$ BEGIN
        SET LOCAL session_replication_role = replica;
        UPDATE records SET digest = NULL, sealed_at = NULL, files = NULL, sums = NULL WHERE run_id = 'unsealed';
      END $$`);

    const three = [step('one', 'held', { out: ['made'] }), step('two', 'held'), step('three', 'held')];
    await submit('claimed', R('held', { steps: three }));
    const claim = (await node('held').claim()).body;
    claims.set('claimed', claim);
    await upload({ url }, claim, 'made', 'first bytes');
    await writeLog({ url }, claim, 'half a line');
    await submit('waits-1', R('held'), 202);
    await submit('waits-2', R('held'), 202);
    await submit(
      'loops',
      R('loop', { steps: [step('one', 'loop', { loop: { back_to: 'one', max: 3, until: { exit_code: 0 } } })] }),
    );
    await node('loop').work({ exit_code: 1 });
    await submit('asks', R('asks', { steps: [question('may'), step('then', 'asks')] }));
    const take = { id: 'take', acquire: { want: needs('more'), acquired: 'use', unavailable: 'without' } };
    await submit('acquired', R('pick', { steps: [take, step('use', 'more'), step('without', 'pick')] }));
    await submit('pending', R('gone'));
    await database.sql("UPDATE nodes SET expires_at = clock_timestamp() - interval '1 s' WHERE node_id = 'over'");

    for (const { run_id } of (await say<any>('GET', '/v1/runs?limit=200')).body.items)
      old.runs.set(run_id, await show(run_id));
    for (const run of OVER.filter((one) => one !== 'unsealed')) old.records.set(run, await downloaded(url, run));
    old.nodes = (await say<any>('GET', '/v1/nodes?all=true')).body.items;
    old.asks = (await say<any>('GET', '/v1/asks')).body.items;
    expect(await server.stop()).toBe(0);
  });
  afterAll(async () => {
    await server.stop();
    await database.drop();
    before.remove();
  });

  it('is migrated by this version, breaks no invariant, and shows every run, node and question as before', async () => {
    expect(await database.sql('SELECT name FROM migrations')).not.toHaveLength(MIGRATIONS.length);
    await start(spawnServer({ DATABASE_URL: database.url, ...ENV }), true);
    expect(await database.sql('SELECT name FROM migrations ORDER BY id')).toEqual(
      MIGRATIONS.map(({ name }) => ({ name })),
    );
    expect(await database.sql('SELECT * FROM invariants')).toEqual([]);
    expect(old.runs.size).toBe(13);
    const shown = await Promise.all([...old.runs.keys()].map(show));
    expect(shown).toMatchObject([...old.runs.values()].map(asBefore));
    expect((await say<any>('GET', '/v1/nodes?all=true')).body.items).toMatchObject(old.nodes);
    expect((await say<any>('GET', '/v1/asks')).body.items).toEqual(old.asks);
  });

  it('every record that was sealed downloads byte for byte the same, and the one that was not is sealed', async () => {
    const url = await server.url();
    for (const [run, bytes] of old.records)
      expect([run, (await downloaded(url, run)).equals(bytes)]).toEqual([run, true]);
    await eventually('it is sealed', async () => (await show('unsealed')).record.state === 'SEALED');
  });

  it('what was under way goes on, by the leases and claims of before', async () => {
    const claim = claims.get('claimed');
    expect((await node('held').claim()).body).toMatchObject({
      seq: 1,
      attempt: 1,
      lease: { nonce: claim.lease.nonce },
    });
    await writeLog({ url: await server.url() }, claim, ', and the rest of it\n');
    expect((await node('held').report(claim)).body).toMatchObject({ step_state: 'DONE', run_state: 'RUNNING' });
    for (const run_state of ['RUNNING', 'SUCCEEDED'])
      expect((await node('held').work()).body).toMatchObject({ run_state });
    const log = await (await fetch(`${await server.url()}/v1/runs/claimed/steps/1/log`)).text();
    expect(log).toBe('half a line, and the rest of it\n');
    // Who waited longest has the node now.
    expect([(await show('waits-1')).state, (await show('waits-2')).state]).toEqual(['RUNNING', 'QUEUED']);
    for (const _run of [1, 2]) expect((await node('held').work()).body.run_state).toBe('SUCCEEDED');

    const again = (await node('loop').claim()).body;
    expect(again).toMatchObject({ run_id: 'loops', attempt: 2 });
    expect((await node('loop').report(again)).body.run_state).toBe('SUCCEEDED');
    expect((await say('POST', '/v1/runs/asks/steps/1/answer', { body: { ok: true } })).status).toBe(200);
    expect((await node('asks').work()).body.run_state).toBe('SUCCEEDED');
    expect((await node('more').work()).body.run_state).toBe('SUCCEEDED');
    expect((await node('gone').work()).body.run_state).toBe('SUCCEEDED');
    expect((await say('POST', '/v1/runs', { body: R('drain', { run_id: 'lifted' }) })).status).toBe(202);
    await join('drain');
    expect((await show('lifted')).state).toBe('RUNNING');
    expect(await database.sql('SELECT * FROM invariants')).toEqual([]);
  });
});
