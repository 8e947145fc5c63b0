import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Database } from '../../../src/platform/database/database.js';
import type { Param } from '../../../src/platform/database/queryable.js';
import { R } from '../../support/contracts.js';
import { startTestMediator, type TestMediator } from '../../support/mediator.js';
import { cancel, submitAll } from '../../support/queue.js';

describe('GET /v1/queue while it changes', () => {
  let server: TestMediator;
  beforeAll(async () => {
    server = await startTestMediator();
    await server.node('N1', [{ role: 'page' }]).advertise();
    const runs = ['holder', 'a', 'b', 'c', 'd'].map((run_id) => R('page', { run_id }));
    expect(await submitAll(server, ...runs)).toEqual([201, 202, 202, 202, 202]);
  });
  afterEach(async () => {
    jest.restoreAllMocks();
    expect(await server.violations()).toEqual([]);
  });
  afterAll(() => server.close());

  const page = async (query = ''): Promise<any> => (await server.send('GET', `/v1/queue${query}`)).body;
  const placesOf = ({ items }: any): unknown[] =>
    items.map(({ run_id, waiting }: any) => [run_id, waiting.position, waiting.ahead]);

  /** Does something as soon as it is known which runs the page has, before their rows are read. */
  function beforeRows(act: () => Promise<unknown>): void {
    const database = server.mediator.app.get(Database);
    const query = database.query.bind(database);
    jest.spyOn(database, 'query').mockImplementation(async (sql: string, params?: Param[]) => {
      if (sql.startsWith('/* queue.read-page */')) {
        jest.restoreAllMocks();
        await act();
      }
      return query(sql, params);
    });
  }

  it('is the queue of one moment: places are consecutive and agree with the depth, whoever leaves meanwhile', async () => {
    beforeRows(() => cancel(server, 'b'));
    const meanwhile = await page('?limit=3');
    expect(placesOf(meanwhile)).toEqual([
      ['a', 1, 0],
      ['b', 2, 1],
      ['c', 3, 2],
    ]);
    expect(meanwhile.depth).toBe(4);

    const next = await page(`?cursor=${meanwhile.next}`);
    expect(placesOf(next)).toEqual([['d', 3, 2]]);
    expect(placesOf(await page())).toEqual([
      ['a', 1, 0],
      ['c', 2, 1],
      ['d', 3, 2],
    ]);
  });

  it('goes on behind the last run of a page, also where that one has gone', async () => {
    const first = await page('?limit=1');
    await cancel(server, 'a');
    expect(placesOf(await page(`?limit=2&cursor=${first.next}`))).toEqual([
      ['c', 1, 0],
      ['d', 2, 1],
    ]);
  });
});
