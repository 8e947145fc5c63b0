import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { atFailpoints } from '../../src/platform/failpoints.js';
import { needs, R, step } from '../support/contracts.js';
import { eventually } from '../support/eventually.js';
import { startTestMediator, type TestMediator } from '../support/mediator.js';
import { hold } from '../support/points.js';
import { cancel, countWakes, promotion, submitAll } from '../support/queue.js';

const MANY = 7;

describe('a sweep that promotes many', () => {
  let server: TestMediator;
  beforeAll(async () => (server = await startTestMediator()));
  afterEach(async () => {
    atFailpoints(undefined);
    expect(await server.violations()).toEqual([]);
  });
  afterAll(() => server.close());

  const runId = (role: string, index: number): string => `${role}-${index}`;
  const nodeId = (role: string, index: number): string => `${role}-N${index}`;

  /** Seven nodes that one run holds, and seven runs that wait for one of them each. */
  async function sevenWait(role: string): Promise<string> {
    for (let index = 1; index <= MANY; index++) await server.node(nodeId(role, index), [{ role }]).advertise();
    const holder = { run_id: `${role}-holder`, requires: [needs(role, { count: MANY })], steps: [step('only', role)] };
    const waiting = Array.from({ length: MANY }, (_, index) => R(role, { run_id: runId(role, index + 1) }));
    expect(await submitAll(server, holder, ...waiting)).toEqual([201, ...waiting.map(() => 202)]);
    return holder.run_id;
  }

  /** By run, from 1: the nodes that it holds. */
  const held = (role: string): Promise<string[][]> =>
    Promise.all(Array.from({ length: MANY }, async (_, i) => (await promotion(server, runId(role, i + 1))).holds));

  it('takes one transaction for the first, two for the next six', async () => {
    const holder = await sevenWait('seven');
    const passed: string[] = [];
    atFailpoints((name) => void passed.push(name));
    expect((await cancel(server, holder)).status).toBe(200);
    expect(await held('seven')).toEqual([1, 2, 3, 4, 5, 6, 7].map((index) => [nodeId('seven', index)]));
    expect(passed.filter((name) => name === 'promote.committed')).toHaveLength(3);
    expect(passed.filter((name) => name === 'sweep.read')).toHaveLength(1);
  });

  it('one of several whose promotion fails hurts no other, and the nodes it would have had are for those behind it', async () => {
    const holder = await sevenWait('bad');
    await server.database.sql(
      `CREATE FUNCTION fail_bad() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'forced'; END $$;
       CREATE TRIGGER bad BEFORE UPDATE ON runs FOR EACH ROW
         WHEN (NEW.run_id = 'bad-5' AND NEW.state = 'RUNNING') EXECUTE FUNCTION fail_bad()`,
    );
    const counted = await countWakes(server);
    expect((await cancel(server, holder)).status).toBe(200);
    expect(await held('bad')).toEqual([
      ...[1, 2, 3, 4].map((index) => [nodeId('bad', index)]),
      [],
      ['bad-N5'],
      ['bad-N6'],
    ]);
    expect(await counted()).toEqual({ wakes: { cancel: 1 }, sweeps: { incomplete: 1 } });

    await server.database.sql('DROP TRIGGER bad ON runs');
    await server.reap();
    expect(await promotion(server, 'bad-5')).toEqual({ state: 'RUNNING', whys: ['owed'], holds: ['bad-N7'] });
  });

  it('one of several that was cancelled meanwhile is passed over, and nothing is owed', async () => {
    const holder = await sevenWait('gone');
    const counted = await countWakes(server);
    const sweeping = hold('sweep.read');
    const released = cancel(server, holder);
    await sweeping.reached;
    const cancelled = cancel(server, 'gone-6');
    await eventually('the waiting run is cancelled', async () => {
      const [run] = await server.database.sql<{ state: string }>("SELECT state FROM runs WHERE run_id = 'gone-6'");
      return run!.state === 'CANCELLED';
    });
    sweeping.letGo();
    expect((await Promise.all([released, cancelled])).map(({ status }) => status)).toEqual([200, 200]);
    expect(await held('gone')).toEqual([...[1, 2, 3, 4, 5].map((index) => [nodeId('gone', index)]), [], ['gone-N6']]);
    expect((await counted()).sweeps).toEqual({ clean: 2 });
  });
});
