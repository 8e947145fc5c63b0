import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { MIGRATIONS } from '../../migrations/all.js';
import { type Answered, Balancer } from '../support/balancer.js';
import { R } from '../support/contracts.js';
import { createDatabase, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { type Send, sender } from '../support/http.js';
import { park } from '../support/parked.js';
import { PlayedNode } from '../support/played-node.js';
import { type SpawnedServer, spawnServer } from '../support/spawned-server.js';
import { tell, tries } from '../support/storm.js';
import { Killable } from './crashes/killable.js';

jest.setTimeout(tries(90_000, 900_000));

describe('three servers on one database', () => {
  let database: TestDatabase;
  const servers: SpawnedServer[] = [];
  let urls: string[];
  beforeAll(async () => {
    database = await createDatabase();
  });
  afterEach(async () => {
    expect(await database.sql('SELECT * FROM invariants')).toEqual([]);
  });
  afterAll(async () => {
    await Promise.all(servers.map((server) => server.stop()));
    await database.drop();
  });

  const spawn = (env: Record<string, string> = {}): SpawnedServer => {
    const server = spawnServer({ DATABASE_URL: database.url, MEDIATOR_RENEW_SECONDS: '3600', ...env });
    servers.push(server);
    return server;
  };
  const spawnAll = async (count: number): Promise<string[]> =>
    Promise.all(Array.from({ length: count }, () => spawn().url()));

  it('that start at once on an empty database migrate it once', async () => {
    const rounds = tries(1, 4);
    for (let round = 1; round <= rounds; round++) {
      expect(await Promise.all(servers.splice(0).map((server) => server.stop()))).toEqual(round === 1 ? [] : [0, 0, 0]);
      await database.sql('DROP SCHEMA public CASCADE');
      await database.sql('CREATE SCHEMA public');
      urls = await spawnAll(3);
      expect(await database.sql('SELECT name FROM migrations ORDER BY id')).toEqual(
        MIGRATIONS.map(({ name }) => ({ name })),
      );
      expect(await database.sql('SELECT FROM servers')).toHaveLength(3);
      for (const server of servers) expect(server.output()).not.toContain('"level":50');
    }
    tell({
      what: 'three servers start on an empty database',
      times: rounds,
      checked: 3 * rounds,
      of: 'servers ready',
      lost: 0,
    });
  });

  it('wake each other: a claim parked at any of them is given the step that another makes ready', async () => {
    const sends = urls.map((url) => sender(url));
    const rounds = tries(1, 10);
    let given = 0;
    for (let round = 1; round <= rounds; round++) {
      for (const [at, acts] of sends.entries()) {
        const parked = await Promise.all(
          sends.map(async (waits, where) => {
            const role = `w${round}-${at}-${where}`;
            const node = new PlayedNode(waits, role, [{ role }]);
            await node.advertise();
            return { role, ...(await park(database, () => node.claim(60))) };
          }),
        );
        for (const { role } of parked) {
          expect(await acts('POST', '/v1/runs', { body: R(role, { run_id: role }) })).toMatchObject({ status: 201 });
        }
        for (const { role, answer } of parked) {
          expect(await answer).toMatchObject({ status: 200, body: { run_id: role } });
          given += 1;
        }
      }
    }
    tell({
      what: 'a claim is parked at one server, its step made ready at another',
      times: given,
      checked: given,
      of: 'claims',
      lost: 0,
    });
  });

  it('sweep for what they have done themselves: as many servers as there are make no more sweeps', async () => {
    const cycles = tries(40, 500);
    const figures: { wakes: number; sweeps: number; results: number; queued: number }[] = [];
    for (const count of [1, 3]) {
      const sends = urls.map((url) => sender(url));
      const before = await Promise.all(sends.map(wakesAndSweeps));
      await workAway(sends.slice(0, count), `m${count}`, cycles);
      const after = await Promise.all(sends.map(wakesAndSweeps));
      const sum = (of: 'wakes' | 'sweeps' | 'results'): number =>
        after.reduce((total, one, index) => total + one[of] - before[index]![of], 0);
      const waited = await database.sql('SELECT FROM runs WHERE queued_at IS NOT NULL AND starts_with(run_id, $1)', [
        `m${count}-`,
      ]);
      figures.push({ wakes: sum('wakes'), sweeps: sum('sweeps'), results: sum('results'), queued: waited.length });
    }
    // Every wake is explained by a request: a report, a submission that was queued, or a node that joined.
    for (const { wakes, sweeps, results, queued } of figures) {
      expect(results).toBe(cycles);
      expect(wakes).toBe(results + queued + FLEET);
      expect(sweeps).toBeLessThanOrEqual(wakes);
    }
    tell({
      what: `the same load on one server (${figures[0]!.sweeps} sweeps) and on three (${figures[1]!.sweeps})`,
      times: 2 * cycles,
      checked: 2 * cycles,
      of: 'runs',
      lost: 0,
    });
  });

  it('are restarted one after the other under load: no request is lost but those in flight at one that is killed', async () => {
    const rounds = tries(1, 4);
    const ended = { SIGTERM: 0, SIGKILL: 0 };
    const gone = new Map<string, keyof typeof ended>();
    const lost = { SIGTERM: 0, SIGKILL: 0, 'while it ran': 0 };
    const balancer = new Balancer(urls, (url) => (lost[gone.get(url) ?? 'while it ran'] += 1));
    let answered = 0;
    const going = { on: true };
    const ask = async (...request: Parameters<Balancer['send']>): Promise<Answered> => {
      const answer = await balancer.send(...request);
      answered += 1;
      return answer;
    };
    const client = async (name: string): Promise<void> => {
      const attrs = { role: name };
      const advert = { node_id: name, instance: name, capabilities: [{ capability: 'board', attrs }] };
      expect((await ask('POST', '/v1/nodes', { body: advert })).status).toBe(200);
      for (let cycle = 1; going.on || cycle <= 3; cycle++) {
        const [one, two] = [`${name}-${cycle}`, `${name}-${cycle}-next`];
        expect([200, 201]).toContain((await ask('POST', '/v1/runs', { body: R(name, { run_id: one }) })).status);
        expect([200, 202]).toContain((await ask('POST', '/v1/runs', { body: R(name, { run_id: two }) })).status);
        for (const run of [one, two]) {
          // The killed one may have died before its wake: its successor makes up for it.
          const claim = await ask('POST', `/v1/nodes/${name}/claim?wait=30`, {
            headers: { 'mediator-instance': name },
          });
          expect(claim).toMatchObject({ status: 200, body: { run_id: run } });
          const headers = { 'mediator-lease': claim.body.lease.nonce };
          const body = { node_id: name, attempt: 1, exit_code: 0 };
          const report = await ask('POST', `/v1/runs/${run}/steps/1/result`, { headers, body });
          // Sent again after a server was killed under it, the report finds its own effect.
          expect([200, 409]).toContain(report.status);
          const shown = await ask('GET', `/v1/runs/${run}`);
          expect(shown.body).toMatchObject({ state: 'SUCCEEDED' });
        }
      }
    };
    const clients = Array.from({ length: 4 }, (_, index) => client(`client${index + 1}`));
    const over = Promise.all(clients).finally(() => (going.on = false));
    over.catch(() => undefined);
    for (let round = 1; round <= rounds; round++) {
      for (const [index, signal] of SIGNALS.entries()) {
        const enough = answered + 40;
        await eventually('the clients have gone on', () => !going.on || answered >= enough, 30);
        const old = servers[index]!;
        gone.set(urls[index]!, signal);
        old.child.kill(signal);
        expect(await old.exited).toBe(signal === 'SIGTERM' ? 0 : null);
        ended[signal] += 1;
        servers[index] = spawnServer({ DATABASE_URL: database.url, MEDIATOR_RENEW_SECONDS: '3600' });
        urls[index] = await servers[index].url();
      }
    }
    going.on = false;
    await over;
    expect(lost).toMatchObject({ SIGTERM: 0, 'while it ran': 0 });
    // A client has one request under way.
    expect(lost.SIGKILL).toBeLessThanOrEqual(clients.length * ended.SIGKILL);
    expect(
      await database.sql("SELECT run_id FROM runs WHERE state <> 'SUCCEEDED' AND starts_with(run_id, 'client')"),
    ).toEqual([]);
    tell({
      what: `one of three servers is stopped (${ended.SIGTERM}) or killed (${ended.SIGKILL}) under load`,
      times: ended.SIGTERM + ended.SIGKILL,
      checked: answered,
      of: 'requests answered',
      lost: 0,
    });
  });
});

describe('two servers on one database', () => {
  it('B28 of two servers one is killed between a release and its wake: the other promotes within renew × (factor + 1)', async () => {
    const database = await createDatabase();
    const rounds = tries(1, 4);
    const env = { MEDIATOR_RENEW_SECONDS: '2', MEDIATOR_NOT_AFTER_FACTOR: '2' };
    const other = spawnServer({ DATABASE_URL: database.url, ...env });
    const there = sender(await other.url());
    for (let round = 1; round <= rounds; round++) {
      const [role, a, b] = [`k${round}`, `k${round}-a`, `k${round}-b`];
      const dying = new Killable();
      const here = sender((await dying.start({ DATABASE_URL: database.url, ...env }))!);
      const node = new PlayedNode(there, role, [{ role }]);
      await node.advertise();
      for (const run_id of [a, b]) await there('POST', '/v1/runs', { body: R(role, { run_id }) });
      const claim = (await node.claim()).body;
      dying.arm({ point: 'report.committed', passing: 1 });
      const cutOff = new PlayedNode(here, role, []).report(claim).catch(() => 'cut off');
      expect(await dying.ended).toBe('SIGKILL');
      expect(await cutOff).toBe('cut off');
      const left = await database.sql('SELECT run_id, state FROM runs WHERE run_id = ANY ($1) ORDER BY run_id', [
        [a, b],
      ]);
      expect(left).toEqual([
        { run_id: a, state: 'SUCCEEDED' },
        { run_id: b, state: 'QUEUED' },
      ]);
      const promoted = await eventually('the other server has promoted it', async () => {
        // A heartbeat that changes nothing wakes nobody.
        await node.advertise();
        const [row] = await database.sql<{ state: string; whys: string[]; seconds: number }>(
          `SELECT state, promoted_whys AS whys,
                  extract(epoch FROM promoted_at - (SELECT ended_at FROM runs WHERE run_id = $1))::float8 AS seconds
             FROM runs WHERE run_id = $2`,
          [a, b],
        );
        return row!.state === 'RUNNING' && row;
      });
      expect(promoted).toMatchObject({ whys: ['server-lost'] });
      expect(promoted.seconds).toBeLessThan(2 * (2 + 1));
      // Its node speaks no more: its lease would run out in a later round, and that wakes as well.
      await there('POST', `/v1/runs/${b}/cancel`);
    }
    expect(await database.sql('SELECT * FROM invariants')).toEqual([]);
    expect(await other.stop()).toBe(0);
    await database.drop();
    tell({
      what: 'one of two servers is killed between a release and its wake',
      times: rounds,
      checked: rounds,
      of: 'runs next in line',
      lost: 0,
    });
  });
});

/** How the servers end, one after the other. */
const SIGNALS = ['SIGTERM', 'SIGKILL'] as const;

/** Nodes of the load on several servers. */
const FLEET = 4;

/** So many runs through a fleet, every request to the next server in turn. */
async function workAway(sends: Send[], name: string, cycles: number): Promise<void> {
  let turn = 0;
  const next = (): Send => sends[turn++ % sends.length]!;
  const nodeIds = Array.from({ length: FLEET }, (_, index) => `${name}-n${index}`);
  const nodes = () => nodeIds.map((nodeId) => new PlayedNode(next(), nodeId, [{ role: name }]));
  for (const node of nodes()) await node.advertise();
  const submitting = (async () => {
    for (let index = 1; index <= cycles; index++) {
      const { status } = await next()('POST', '/v1/runs', { body: R(name, { run_id: `${name}-${index}` }) });
      expect([201, 202]).toContain(status);
    }
  })();
  let reported = 0;
  const working = nodeIds.map(async (nodeId) => {
    while (reported < cycles) {
      const node = new PlayedNode(next(), nodeId, [{ role: name }]);
      const claim = await node.claim();
      if (claim.status !== 200) continue;
      expect((await node.report(claim.body)).status).toBe(200);
      reported += 1;
    }
  });
  await Promise.all([submitting, ...working]);
}

async function wakesAndSweeps(send: Send): Promise<{ wakes: number; sweeps: number; results: number }> {
  const { body } = await send<string>('GET', '/metrics');
  const sum = (pattern: RegExp): number => [...body.matchAll(pattern)].reduce((total, [, n]) => total + Number(n), 0);
  return {
    wakes: sum(/^mediator_wakes_total\{why="(?!startup)\w[\w-]*"\} (\d+)$/gm),
    sweeps: sum(/^mediator_sweeps_total\{.*\} (\d+)$/gm),
    results: sum(/^mediator_wakes_total\{why="result"\} (\d+)$/gm),
  };
}
