import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { MIGRATIONS } from '../../migrations/all.js';
import { type Answered, Balancer } from '../support/balancer.js';
import { R } from '../support/contracts.js';
import type { TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { type Send, sender } from '../support/http.js';
import { type SpawnedServer, spawnServer } from '../support/spawned-server.js';
import { emptyDatabase, VersionBefore } from './version-before.js';

jest.setTimeout(120_000);

const NODES = ['n1', 'n2', 'n3', 'n4'];
/** So many runs are done by each pair of servers that stand side by side. */
const ENOUGH = 60;

describe('two servers of the version before, replaced one after the other under load', () => {
  const before = new VersionBefore();
  const servers: SpawnedServer[] = [];
  const faults: string[] = [];
  const accepted: string[] = [];
  let database: TestDatabase;
  let balancer: Balancer;
  const over = new AbortController();
  let done = 0;

  const env = (): Record<string, string> => ({
    DATABASE_URL: database.url,
    MEDIATOR_RENEW_SECONDS: '2',
    MEDIATOR_NOT_AFTER_FACTOR: '10',
    MEDIATOR_LEASE_TTL_SECONDS: '20',
  });
  async function begin(server: SpawnedServer): Promise<string> {
    servers.push(server);
    const url = await server.url();
    balancer.servers.push(url);
    return url;
  }
  async function end(server: SpawnedServer): Promise<void> {
    const url = await server.url();
    expect(await server.stop()).toBe(0);
    balancer.servers.splice(balancer.servers.indexOf(url), 1);
  }
  beforeAll(async () => {
    database = await emptyDatabase();
    balancer = new Balancer([], (server) => faults.push(`${server} took a request and gave no answer`));
  });
  afterAll(async () => {
    await Promise.all(servers.map((server) => server.stop()));
    await database.drop();
    before.remove();
  });

  async function ask(fine: number[], ...[method, path, options]: Parameters<Balancer['send']>): Promise<Answered> {
    const answer = await balancer.send(method, path, options);
    if (!fine.includes(answer.status))
      faults.push(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer;
  }

  /** Advertises, asks, does what it is given: again and again. */
  async function work(node_id: string): Promise<void> {
    const instance = `${node_id}-1`;
    while (!over.signal.aborted) {
      const advert = { node_id, instance, capabilities: [{ capability: 'board', attrs: { role: 'any' } }] };
      await ask([200], 'POST', '/v1/nodes', { body: advert });
      const headers = { 'mediator-instance': instance };
      const { status, body } = await ask([200, 204], 'POST', `/v1/nodes/${node_id}/claim?wait=1`, { headers });
      if (status !== 200) continue;
      const result = { node_id, attempt: body.attempt, exit_code: 0 };
      // Its run may have been cancelled meanwhile.
      const path = `/v1/runs/${body.run_id}/steps/${body.seq}/result`;
      await ask([200, 409], 'POST', path, { body: result, headers: { 'mediator-lease': body.lease.nonce } });
      done += 1;
    }
  }

  async function submit(client: number): Promise<void> {
    for (let at = 0; !over.signal.aborted; at++) {
      const run_id = `c${client}-${at}`;
      await ask([201, 202], 'POST', '/v1/runs', { body: R('any', { run_id }) });
      accepted.push(run_id);
      if (at % 7 === 3) await ask([200], 'POST', `/v1/runs/${run_id}/cancel`);
      await eventually('not too many wait', async () => {
        const { body } = await ask([200], 'GET', '/v1/queue?limit=1');
        return over.signal.aborted || body.depth < 20;
      });
    }
  }

  const more = (what: string): Promise<unknown> => {
    const wanted = done + ENOUGH;
    return eventually(`${ENOUGH} steps are done ${what}`, () => done >= wanted, 60);
  };

  it('lose nothing, answer nothing but 503 with 5xx, and lease no node that is held', async () => {
    const [first, second] = [before.spawn(env()), before.spawn(env())];
    await begin(first);
    const oldUrl = await begin(second);
    const load = [...NODES.map(work), ...[1, 2, 3].map(submit)];
    await more('by two of before');

    await end(first);
    const newUrl = await begin(spawnServer(env()));
    expect(await database.sql('SELECT name FROM migrations')).toHaveLength(MIGRATIONS.length);
    await more('by one of each');
    await expectHeld(sender(oldUrl, { ofThisVersion: false }), sender(newUrl));
    await more('by one of each, again');

    await end(second);
    await begin(spawnServer(env()));
    await more('by two of this');
    over.abort();
    await Promise.all(load);

    expect(faults).toEqual([]);
    for (const { run_id } of await database.sql<{ run_id: string }>('SELECT run_id FROM runs WHERE ended_at IS NULL')) {
      await ask([200], 'POST', `/v1/runs/${run_id}/cancel`);
    }
    await eventually('every record is sealed', async () => {
      return (await database.sql('SELECT FROM records WHERE digest IS NULL')).length === 0;
    });
    const known = new Set(
      (await database.sql<{ run_id: string }>('SELECT run_id FROM runs')).map(({ run_id }) => run_id),
    );
    expect(accepted.filter((run) => !known.has(run))).toEqual([]);
    expect(await database.sql('SELECT * FROM invariants')).toEqual([]);
    for (const server of servers) expect(server.output()).not.toContain('"level":50');
  });

  /** A server of before knows of no holds: what it would lease of a held node collides. */
  async function expectHeld(old: Send, now: Send): Promise<void> {
    const advert = { node_id: 'own', capabilities: [{ capability: 'board', attrs: { role: 'own' } }] };
    const speak = (send: Send): Promise<unknown> => send('POST', '/v1/nodes', { body: advert });
    await speak(old);
    expect((await now('PUT', '/v1/nodes/own/hold', { body: { reason: 'the fan is loud' } })).status).toBe(200);
    const { status, body } = await old<any>('POST', '/v1/runs', { body: R('own', { run_id: 'held' }) });
    expect([status, body.state]).toEqual([202, 'QUEUED']);
    // Whoever hears of the node, and whichever server sweeps for it.
    for (const send of [old, now]) await speak(send);
    await old('POST', '/v1/nodes', { body: { ...advert, drain: 'graceful' } });
    await speak(old);
    expect((await now<any>('GET', '/v1/runs/held')).body).toMatchObject({
      state: 'QUEUED',
      waiting: { reason: 'DRAINING' },
    });
    expect((await now('DELETE', '/v1/nodes/own/hold')).status).toBe(200);
    expect((await old<any>('GET', '/v1/runs/held')).body.state).toBe('RUNNING');
    expect((await old('POST', '/v1/runs/held/cancel')).status).toBe(200);
  }
});
