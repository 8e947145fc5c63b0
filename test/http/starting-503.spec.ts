import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readConfig } from '../../src/platform/config/read-config.js';
import { type Mediator, startMediator } from '../../src/start-mediator.js';
import { createDatabase, type TestDatabase } from '../support/database.js';
import { type Send, sender } from '../support/http.js';
import { hold } from '../support/points.js';
import { expectProblem } from '../support/problem.js';

describe('a server that is starting', () => {
  let database: TestDatabase;
  let send: Send;
  let started: Promise<Mediator>;
  let startUpWake: ReturnType<typeof hold>;
  beforeAll(async () => {
    database = await createDatabase();
    startUpWake = hold('sweep.begin');
    const config = readConfig({ DATABASE_URL: database.url, PORT: '0', LOG_LEVEL: 'silent' });
    const listening = new Promise<string>((resolve) => {
      started = startMediator(config, resolve);
    });
    send = sender(await listening);
    await startUpWake.reached;
  });
  afterAll(async () => {
    startUpWake.letGo();
    await (await started).stop();
    await database.drop();
  });

  it.each(['/v1/runs', '/v1/runs?limit=1', '/v1/nothing', '/%761/runs'])(
    'serves nothing at %s before its start-up wake is over, however it is spelt',
    async (path) => {
      const answer = await send('GET', path);
      expectProblem(answer, 503, 'unavailable');
      expect(answer.headers.get('retry-after')).toBe('1');
    },
  );

  it('lives, is not ready, and explains itself', async () => {
    expect((await send('GET', '/livez')).status).toBe(200);
    expect((await send('GET', '/readyz')).status).toBe(503);
    expect((await send('GET', '/problems/unavailable')).status).toBe(200);
    startUpWake.letGo();
    await started;
    expect((await send('GET', '/readyz')).status).toBe(200);
    expect((await send('GET', '/%761/runs')).status).toBe(200);
  });
});
