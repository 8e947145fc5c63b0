import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { Database } from '../../src/platform/database/database.js';
import { Rollback, type Tx } from '../../src/platform/database/queryable.js';
import { refusal } from '../../src/platform/database/refusals.js';
import { inOrder, read, write, type Statement, type Write } from '../../src/platform/database/statement.js';
import { startTestMediator, type TestMediator } from '../support/mediator.js';

interface Word {
  word: string;
}

const say = (...words: string[]): Write<void> =>
  write({
    name: 'test.say',
    text: 'INSERT INTO words SELECT * FROM unnest($1::text[])',
    params: [words],
    rows: words.length,
    otherwise: 'gone',
  });

const change = (from: string, to: string): Write<void> =>
  write({
    name: 'test.change',
    text: 'UPDATE words SET word = $2 WHERE word = $1',
    params: [from, to],
    otherwise: 'not_queued',
  });

const readWords = (): Statement<string[]> =>
  read({
    name: 'test.read-words',
    text: 'SELECT word FROM words ORDER BY word',
    as: (rows: Word[]) => rows.map(({ word }) => word),
  });

describe('a transaction', () => {
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

  const words = async (): Promise<string[]> =>
    (await server.database.sql<Word>('SELECT word FROM words ORDER BY word')).map(({ word }) => word);
  /** As what a transaction of this work was refused. */
  const refused = (work: (tx: Tx) => unknown): Promise<string | undefined> =>
    database.transaction('test', async (tx) => void (await work(tx))).then(() => 'it was not', refusal);

  it('has committed all that was sent, though nobody waited for it', async () => {
    await database.transaction('test', async (tx) => {
      for (const word of ['a', 'b', 'c']) tx.send(say(word));
      expect(await tx.ask(readWords())).toEqual(['a', 'b', 'c']);
      tx.send(say('d'));
    });
    expect(await words()).toEqual(['a', 'b', 'c', 'd']);
  });

  it('sends a list in its order, and gives the answers in it', async () => {
    const lists = await database.transaction('test', (tx) =>
      tx.ask(readWords(), say('a'), readWords(), change('a', 'b'), readWords(), say('c', 'd'), readWords()),
    );
    expect(lists).toEqual([[], undefined, ['a'], undefined, ['b'], undefined, ['b', 'c', 'd']]);
  });

  it('sends a value of several statements in its order too', async () => {
    const renamed = inOrder([say('a'), change('a', 'b'), readWords()], ([, , after]) => after.join());
    expect(renamed.writes).toBe(true);
    const answers = await database.transaction('test', (tx) => tx.ask(readWords(), renamed, readWords()));
    expect(answers).toEqual([[], 'b', ['b']]);
  });

  it.each([
    ['asks', (tx: Tx): Promise<unknown> => Promise.all([tx.ask(say('a')), tx.ask(readWords())])],
    [
      'sends',
      async (tx: Tx): Promise<void> => {
        const asked = tx.ask(say('a'));
        await Promise.all([asked, Promise.resolve(tx).then((same) => void same.send(say('b')))]);
      },
    ],
  ])('%s nothing beside what it waits for: who wants both lists them', async (_, work) => {
    await expect(database.transaction('test', work)).rejects.toThrow('sends two things at once');
    expect(await words()).toEqual([]);
  });

  it('gives what was sent an answer after the commit', async () => {
    const said = await database.transaction('test', (tx) => {
      tx.send(say('a', 'b'));
      return Promise.resolve(tx.send(readWords()));
    });
    expect(await said()).toEqual(['a', 'b']);
  });

  it('is undone whole where one of it fails, and tells the first fault', async () => {
    const work = (tx: Tx): Promise<void> => {
      for (const word of ['a', 'b', 'a', 'c']) tx.send(say(word));
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
    const work = (tx: Tx): Promise<unknown> => {
      tx.send(say('a'));
      tx.send(say('a'));
      return tx.ask(readWords());
    };
    await expect(database.transaction('test', work)).rejects.toMatchObject({ code: '23505' });
  });

  it('sends nothing any more once it has ended, least of all outside of itself', async () => {
    let late: Tx | undefined;
    const outcome = await database.transaction<string>('test', (tx) => {
      late = tx;
      tx.send(say('a'));
      throw new Rollback('undone');
    });
    expect(outcome).toBe('undone');
    await expect(late!.ask(say('late'))).rejects.toThrow('has ended');
    expect(() => late!.send(say('later'))).toThrow('has ended');
    // The connection is another's by now: what it does is not mixed with what came late.
    await database.transaction('test', (tx) => tx.ask(say('next')));
    expect(await words()).toEqual(['next']);
  });

  describe('whose write touches another number of rows than it has to', () => {
    it.each<[string, (tx: Tx) => unknown]>([
      ['and is waited for', (tx) => tx.ask(change('no', 'where'))],
      ['and is sent, with something behind it', (tx) => (tx.send(change('no', 'where')), tx.ask(readWords()))],
      ['and is sent, with COMMIT behind it', (tx) => void tx.send(change('no', 'where'))],
      ['and nobody waits for it', (tx) => void tx.ask(change('no', 'where')).catch(() => undefined)],
    ])('%s is undone whole, and is told by its meaning', async (_, work) => {
      const both = (tx: Tx): unknown => {
        tx.send(say('a'));
        return work(tx);
      };
      expect(await refused(both)).toBe('not_queued');
      expect(await words()).toEqual([]);
    });

    it.each<[number, number, string, string[][]]>([
      [2, 2, 'it was not', [['a', 'b']]],
      [2, 1, 'gone', []],
      [1, 2, 'gone', []],
      [0, 1, 'gone', []],
      [0, 0, 'it was not', [[]]],
      [1, 0, 'gone', []],
    ])('tells so of several items: %d of %d', async (touched, rows, expected, dropped) => {
      await server.database.sql("INSERT INTO words VALUES ('a'), ('b')");
      const drop = (as?: (gone: Word[]) => string[]): Write<string[]> =>
        write({
          name: as ? 'test.drop-and-tell' : 'test.drop',
          text: 'DELETE FROM words WHERE word = ANY ($1) RETURNING word',
          params: [['a', 'b'].slice(0, touched)],
          rows,
          otherwise: 'gone',
          as,
        });
      expect(await refused((tx) => tx.send(drop()))).toBe(expected);
      await server.database.sql("INSERT INTO words VALUES ('a'), ('b') ON CONFLICT DO NOTHING");
      const told: unknown[] = [];
      const tell = async (tx: Tx): Promise<unknown> =>
        told.push(await tx.ask(drop((gone) => gone.map(({ word }) => word))));
      expect(await refused(tell)).toBe(expected);
      expect(told).toEqual(dropped);
    });

    it('tells of the first part that has touched others, its own before the further one', async () => {
      await server.database.sql("INSERT INTO words VALUES ('a'), ('b')");
      const swap = (from: string[], to: string[]): Write<void> =>
        write({
          name: 'test.swap',
          with: `gone AS (DELETE FROM words WHERE word = ANY ($1) RETURNING word),
                 come AS (INSERT INTO words SELECT unnest($2::text[]) ON CONFLICT DO NOTHING RETURNING word)`,
          text: 'SELECT FROM gone',
          params: [from, to],
          otherwise: 'not_queued',
          also: { part: 'come', rows: 1, otherwise: 'collided' },
        });
      expect(await refused((tx) => tx.send(swap(['no'], ['b'])))).toBe('not_queued');
      expect(await refused((tx) => tx.send(swap(['a'], ['b'])))).toBe('collided');
      expect(await words()).toEqual(['a', 'b']);
      expect(await refused((tx) => tx.send(swap(['a'], ['c'])))).toBe('it was not');
      expect(await words()).toEqual(['b', 'c']);
    });

    it('is right with each number where it says so', async () => {
      const tell = write({
        name: 'test.drop-any',
        text: 'DELETE FROM words',
        rows: 'any',
        as: (_, touched) => touched,
      });
      await server.database.sql("INSERT INTO words VALUES ('a'), ('b')");
      expect(await database.transaction('test', (tx) => tx.ask(tell, tell))).toEqual([2, 0]);
    });
  });

  it('takes no statement that changes something for a read', () => {
    for (const text of [
      'INSERT INTO words SELECT 1',
      'WITH x AS (DELETE FROM words) SELECT 1',
      "UPDATE words SET word = 'a'",
      'MERGE INTO words USING x ON true WHEN MATCHED THEN DELETE',
      'TRUNCATE words',
    ]) {
      expect(() => read({ name: 'test.changes', text: text })).toThrow('it is a write');
    }
    // @ts-expect-error it does not even compile
    expect(() => read({ name: 'test.changes', text: 'DELETE FROM words WHERE true' })).toThrow('it is a write');
    expect(read({ name: 'test.locks', text: 'SELECT FROM words FOR NO KEY UPDATE' }).writes).toBe(false);
  });
});
