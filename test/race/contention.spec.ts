import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Database } from '../../src/platform/database/database.js';
import { DatabaseUnavailable, isContention } from '../../src/platform/database/faults.js';
import { retryPause } from '../../src/platform/database/retry-pause.js';
import { atFailpoints } from '../../src/platform/failpoints.js';
import { R } from '../support/contracts.js';
import { startTestMediator, type TestMediator } from '../support/mediator.js';
import { cancel, promotion, show, submitAll } from '../support/queue.js';

const CODES = ['40P01', '40001', '55P03'];

describe('a transaction that meets another', () => {
  let server: TestMediator;
  let database: Database;
  beforeAll(async () => {
    server = await startTestMediator();
    database = server.mediator.app.get(Database);
    await server.database.sql('CREATE TABLE words (word text)');
  });
  afterEach(async () => {
    atFailpoints(undefined);
    jest.restoreAllMocks();
    await server.database.sql('TRUNCATE words');
    expect(await server.violations()).toEqual([]);
  });
  afterAll(() => server.close());

  /** Says a word, and fails in this way as often; gives when it was begun each time. */
  async function failing(code: string, times: number, options: { retry?: boolean } = {}): Promise<number[]> {
    const begun: number[] = [];
    await database.transaction(
      `fails-${code}`,
      async (tx) => {
        begun.push(performance.now());
        await tx.query("INSERT INTO words VALUES ('said')");
        if (begun.length > times) return;
        await tx.query(`DO $$ BEGIN RAISE EXCEPTION 'forced' USING ERRCODE = '${code}'; END $$`);
      },
      options,
    );
    return begun;
  }
  const retries = (code: string): Promise<number> =>
    server.figure(`mediator_transaction_retries_total{transaction="fails-${code}"}`);
  const said = (): Promise<object[]> => server.database.sql('SELECT word FROM words');

  it.each(CODES)('%s: runs the whole of it again, and counts that', async (code) => {
    const before = await retries(code);
    expect(await failing(code, 2)).toHaveLength(3);
    // What the first two had written is undone.
    expect(await said()).toEqual([{ word: 'said' }]);
    expect((await retries(code)) - before).toBe(2);
  });

  it.each(CODES)('%s: succeeds at the sixth attempt, and is given up after it', async (code) => {
    jest.spyOn(Math, 'random').mockReturnValue(0);
    const before = await retries(code);
    expect(await failing(code, 5)).toHaveLength(6);
    expect((await retries(code)) - before).toBe(5);
    await expect(failing(code, 6)).rejects.toBeInstanceOf(DatabaseUnavailable);
    expect((await retries(code)) - before).toBe(10);
    expect(await said()).toEqual([{ word: 'said' }]);
  });

  it('pauses before each further attempt, for longer each time', async () => {
    jest.spyOn(Math, 'random').mockReturnValue(0.9);
    const begun = await failing('40001', 3);
    const pauses = begun.slice(1).map((at, index) => at - begun[index]!);
    // A timer may be a millisecond early.
    pauses.forEach((pause, index) => expect(pause).toBeGreaterThan(retryPause(index + 1) - 2));
  });

  it('is told at once where it wants no retry', async () => {
    const fault: unknown = await failing('40P01', 1, { retry: false }).catch((error: unknown) => error);
    expect(isContention(fault)).toBe(true);
    expect(await said()).toEqual([]);
  });

  it('is told at once of any other fault', async () => {
    await expect(failing('23514', 1)).rejects.toMatchObject({ code: '23514' });
    expect(await retries('23514')).toBe(0);
  });

  it('two that wait for each other: one is tried again by itself, and both are done', async () => {
    await server.database.sql("INSERT INTO words VALUES ('a'), ('b')");
    let [begun, meet] = [0, (): void => undefined];
    const both = new Promise<void>((resolve) => (meet = resolve));
    const inOrder = (first: string, second: string): Promise<void> =>
      database.transaction('circle', async (tx) => {
        await tx.query('SELECT FROM words WHERE word = $1 FOR UPDATE', [first]);
        if (++begun === 2) meet();
        await both;
        await tx.query('SELECT FROM words WHERE word = $1 FOR UPDATE', [second]);
      });
    await Promise.all([inOrder('a', 'b'), inOrder('b', 'a')]);
    expect(begun).toBe(3);
    expect(await server.figure('mediator_transaction_retries_total{transaction="circle"}')).toBe(1);
  });

  it('a request whose contention does not end is a 503, and nothing happened', async () => {
    await server.node('N1', [{ role: 'x' }]).advertise();
    expect(await submitAll(server, R('x', { run_id: 'busy' }))).toEqual([201]);
    let tried = 0;
    atFailpoints((name) => {
      if (name !== 'cancel.before-commit') return;
      tried += 1;
      throw Object.assign(new Error('deadlock detected'), { code: '40P01' });
    });
    expect((await cancel(server, 'busy')).status).toBe(503);
    expect(tried).toBe(6);
    expect(await server.figure('mediator_transaction_retries_total{transaction="cancel"}')).toBe(5);
    atFailpoints(undefined);
    expect((await show(server, 'busy')).state).toBe('RUNNING');
    expect((await cancel(server, 'busy')).status).toBe(200);
  });

  it('a promotion is never tried again: it is a collision, and the sweep reads everything anew', async () => {
    await server.node('N2', [{ role: 'y' }]).advertise();
    expect(await submitAll(server, R('y', { run_id: 'y-a' }), R('y', { run_id: 'y-b' }))).toEqual([201, 202]);
    const passed: string[] = [];
    atFailpoints((name) => {
      if (name !== 'sweep.read' && name !== 'promote.before-grant') return;
      passed.push(name);
      if (passed.length === 2) throw Object.assign(new Error('deadlock detected'), { code: '40P01' });
    });
    expect((await cancel(server, 'y-a')).status).toBe(200);
    expect(passed).toEqual(['sweep.read', 'promote.before-grant', 'sweep.read', 'promote.before-grant']);
    expect(await promotion(server, 'y-b')).toMatchObject({ state: 'RUNNING', holds: ['N2'] });
    expect(await server.figure('mediator_transaction_retries_total{transaction="promote"}')).toBe(0);
  });
});
