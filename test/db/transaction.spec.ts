import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { Database } from '../../src/platform/database/database.js';
import { refusal } from '../../src/platform/database/faults.js';
import { Rollback, type Tx } from '../../src/platform/database/queryable.js';
import { startTestMediator, type TestMediator } from '../support/mediator.js';

describe('a transaction whose statements are sent together', () => {
  let server: TestMediator;
  let database: Database;
  beforeAll(async () => {
    server = await startTestMediator();
    database = server.mediator.app.get(Database);
    await server.database.sql('CREATE TABLE words (word text PRIMARY KEY)');
  });
  afterEach(async () => {
    await server.database.sql('TRUNCATE words');
    expect(await server.violations()).toEqual([]);
  });
  afterAll(() => server.close());

  const say = (tx: Tx, word: string): void => tx.send('INSERT INTO words VALUES ($1)', [word]);
  const words = async (): Promise<string[]> =>
    (await server.database.sql<{ word: string }>('SELECT word FROM words ORDER BY word')).map(({ word }) => word);

  it('has committed all that was sent, though nobody waited for it', async () => {
    await database.transaction('test', async (tx) => {
      for (const word of ['a', 'b', 'c']) say(tx, word);
      const { rows } = await tx.query('SELECT count(*)::int AS said FROM words');
      expect(rows).toEqual([{ said: 3 }]);
    });
    expect(await words()).toEqual(['a', 'b', 'c']);
  });

  it('is undone whole where one of it fails, and tells the first fault', async () => {
    const work = (tx: Tx): Promise<void> => {
      for (const word of ['a', 'b', 'a', 'c']) say(tx, word);
      return Promise.resolve();
    };
    await expect(database.transaction('test', work)).rejects.toMatchObject({ code: '23505' });
    expect(await words()).toEqual([]);
  });

  it('holds no second one, which would wait for a connection while it keeps its own', async () => {
    const nested = database.transaction('outer', () => database.transaction('inner', () => Promise.resolve()));
    await expect(nested).rejects.toThrow('transaction inner inside transaction outer');
  });

  it('tells the first fault to whoever waits for what came after it', async () => {
    await expect(
      database.transaction('test', async (tx) => {
        say(tx, 'a');
        say(tx, 'a');
        await tx.query('SELECT 1');
      }),
    ).rejects.toMatchObject({ code: '23505' });
  });

  it('that was refused by a statement is not committed by the COMMIT behind it', async () => {
    const refused = database.transaction('test', (tx) => {
      say(tx, 'a');
      tx.send("SELECT refuse('collided')");
      return Promise.resolve('done');
    });
    expect(refusal(await refused.catch((error: unknown) => error))).toBe('collided');
    expect(await words()).toEqual([]);
  });

  it('sends nothing any more once it has ended, least of all outside of itself', async () => {
    let late: Tx | undefined;
    const outcome = await database.transaction<string>('test', (tx) => {
      late = tx;
      say(tx, 'a');
      throw new Rollback('undone');
    });
    expect(outcome).toBe('undone');
    await expect(late!.query("INSERT INTO words VALUES ('late')")).rejects.toThrow('has ended');
    say(late!, 'later');
    // The connection is another's by now: what it does is not mixed with what came late.
    await database.transaction('test', async (tx) => void (await tx.query("INSERT INTO words VALUES ('next')")));
    expect(await words()).toEqual(['next']);
  });

  it('goes on behind a part that was undone', async () => {
    await database.transaction('test', async (tx) => {
      say(tx, 'before');
      const part = tx.savepoint(async () => {
        await tx.query("INSERT INTO words VALUES ('part')");
        throw new Error('no');
      });
      await expect(part).rejects.toThrow('no');
      say(tx, 'behind');
    });
    expect(await words()).toEqual(['before', 'behind']);
  });
});
