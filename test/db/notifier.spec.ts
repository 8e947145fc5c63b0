import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { setImmediate as turn } from 'node:timers/promises';
import pg from 'pg';
import { Config } from '../../src/platform/config/config.js';
import { readConfig } from '../../src/platform/config/read-config.js';
import { Notifier } from '../../src/platform/notifier/notifier.js';
import { createDatabase, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';

describe('notifications', () => {
  let database: TestDatabase;
  let notifier: Notifier;
  let other: pg.Client;
  const heard: string[] = [];
  beforeAll(async () => {
    database = await createDatabase();
    other = new pg.Client({ connectionString: database.url });
    other.on('notification', ({ channel }) => heard.push(channel));
    await other.connect();
    await other.query('LISTEN mediator_steps; LISTEN mediator_runs; LISTEN mediator_logs');
    notifier = new Notifier(new Config(readConfig({ DATABASE_URL: database.url })));
    await notifier.start(database.url);
  });
  afterAll(async () => {
    await other.end();
    await database.drop();
  });

  it('that were given before a stop reach the others, whether they are under way or wait', async () => {
    notifier.notify('steps');
    // The statement of the first is under way; the second waits for its answer.
    await turn();
    await turn();
    notifier.notify('runs');
    await notifier.stop();
    await eventually('both have arrived', () => heard.length >= 2);
    expect(heard.sort()).toEqual(['mediator_runs', 'mediator_steps']);
  });
});
