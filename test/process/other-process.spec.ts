import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { needs, R, step } from '../support/contracts.js';
import { type Send, sender } from '../support/http.js';
import { startTestMediator, type TestMediator } from '../support/mediator.js';
import { expectGivenAtOnce, park } from '../support/parked.js';
import { PlayedNode } from '../support/played-node.js';
import { spawnServer, type SpawnedServer } from '../support/spawned-server.js';

// The start of a process takes a second, and more where the machine is busy.
jest.setTimeout(60_000);

describe('two processes on one database', () => {
  let server: TestMediator;
  let spawned: SpawnedServer;
  let there: Send;
  let made = 0;
  beforeAll(async () => {
    server = await startTestMediator();
    spawned = spawnServer({ DATABASE_URL: server.database.url, MEDIATOR_RENEW_SECONDS: '3600' });
    there = sender(await spawned.url());
  });
  afterEach(async () => {
    expect(await server.violations()).toEqual([]);
  });
  afterAll(async () => {
    expect(await spawned.stop()).toBe(0);
    await server.close();
  });

  const directions = [
    ['here', 'there', () => [server.send, there] as const],
    ['there', 'here', () => [there, server.send] as const],
  ] as const;

  it.each(directions)(
    'E6 reported %s: the claim that is parked %s gets the next step within 100 ms',
    async (_acts, _waits, sides) => {
      const [acts, waits] = sides();
      await expectGivenAtOnce(async () => {
        const run = `run${++made}`;
        const [x, y] = [`${run}-x`, `${run}-y`];
        const [first, second] = [new PlayedNode(acts, x, [{ role: x }]), new PlayedNode(waits, y, [{ role: y }])];
        await first.advertise();
        await second.advertise();
        const body = { run_id: run, requires: [needs(x), needs(y)], steps: [step('one', x), step('two', y)] };
        expect((await acts('POST', '/v1/runs', { body })).status).toBe(201);
        const one = (await first.claim()).body;
        const { answer } = await park(server.database, () => second.claim(30));
        return { claim: answer, act: () => first.report(one), want: { run_id: run, seq: 2 } };
      });
    },
  );

  it.each(directions)(
    'E6 released %s: the claim that is parked %s gets the step of the run that was promoted within 100 ms',
    async (_acts, _waits, sides) => {
      const [acts, waits] = sides();
      await expectGivenAtOnce(async () => {
        const run = `run${++made}`;
        const node = new PlayedNode(waits, run, [{ role: run }]);
        await node.advertise();
        const runs = [R(run, { run_id: run }), R(run, { run_id: `${run}-next` })];
        for (const body of runs) await acts('POST', '/v1/runs', { body });
        // That it has asked again is written down once; from then on a claim only looks.
        for (const _claim of [1, 2]) await node.claim();
        const { answer } = await park(server.database, () => node.claim(30));
        return {
          claim: answer,
          act: () => acts('POST', `/v1/runs/${run}/cancel`),
          want: { run_id: `${run}-next`, seq: 1 },
        };
      });
    },
  );

  it('C9 the advert of a new instance at one server ends the claim of the old one that is parked at the other', async () => {
    const [old, young] = [new PlayedNode(there, 'twice', []), new PlayedNode(server.send, 'twice', [])];
    [old.instance, young.instance] = ['boot-1', 'boot-2'];
    await old.advertise();
    const claim = old.claim(30);
    await young.advertise();
    expect(await claim).toMatchObject({ status: 409, body: { code: 'stale_instance' } });
  });
});
