import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { setImmediate as turn } from 'node:timers/promises';
import pg from 'pg';
import { Config } from '../../src/platform/config/config.js';
import { readConfig } from '../../src/platform/config/read-config.js';
import { Hints } from '../../src/platform/database/hints.js';
import { createDatabase, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';

describe('hints', () => {
  let database: TestDatabase;
  let hints: Hints;
  let other: pg.Client;
  const heard: string[] = [];
  beforeAll(async () => {
    database = await createDatabase();
    other = new pg.Client({ connectionString: database.url });
    other.on('notification', ({ channel }) => heard.push(channel));
    await other.connect();
    await other.query('LISTEN mediator_steps; LISTEN mediator_runs; LISTEN mediator_logs');
    hints = new Hints(new Config(readConfig({ DATABASE_URL: database.url })));
    await hints.start(database.url);
  });
  afterAll(async () => {
    await other.end();
    await database.drop();
  });

  it('that were rung before a stop reach the others, whether they are under way or wait', async () => {
    hints.ring('steps');
    // The statement of the first is under way; the second waits for its answer.
    await turn();
    await turn();
    hints.ring('runs');
    await hints.stop();
    await eventually('both are heard', () => heard.length >= 2);
    expect(heard.sort()).toEqual(['mediator_runs', 'mediator_steps']);
  });
});
