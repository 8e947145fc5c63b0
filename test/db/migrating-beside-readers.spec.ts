import { describe, expect, it, jest } from '@jest/globals';
import { DataSource } from 'typeorm';
import { MIGRATIONS } from '../../migrations/all.js';
import { SILENT } from '../../src/platform/sessions/open-source.js';
import { migrate } from '../../src/platform/migrations/migrate.js';
import { createDatabase, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { openProxy } from '../support/proxy.js';
import { openSession } from '../support/session.js';

jest.setTimeout(60_000);

async function sourceOf({ url }: TestDatabase): Promise<DataSource> {
  return new DataSource({ type: 'postgres', url, migrations: MIGRATIONS, logger: SILENT }).initialize();
}

describe('a migration', () => {
  it('M5: that meets a reader says so and tries again; other readers are not held up behind it', async () => {
    const database = await createDatabase();
    const source = await sourceOf(database);
    for (const _ of MIGRATIONS) await source.undoLastMigration({ transaction: 'each' });
    await database.sql('DELETE FROM migrations');
    // The first of ours makes the table; the next that changes it waits for whoever reads it.
    const early = new DataSource({ type: 'postgres', url: database.url, migrations: MIGRATIONS.slice(0, 3) });
    await (await early.initialize()).runMigrations({ transaction: 'each' });
    await early.destroy();
    const reader = await openSession(database);
    await reader.sql('BEGIN');
    await reader.sql('SELECT FROM steps');

    const lines: object[] = [];
    let done = false;
    const migrating = migrate(source, { warn: (line) => lines.push(line) }).then(() => (done = true));
    await eventually('it says that it waits', () => lines.length > 0);
    expect(lines).toEqual([expect.objectContaining({ msg: 'a migration waits for a table that is in use' })]);
    // It has tried several times by then.
    const longest = { ms: 0 };
    for (let look = 1; look <= 100; look++) {
      const since = performance.now();
      await database.sql('SELECT FROM steps LIMIT 1');
      await database.sql('SELECT pg_sleep(0.01)');
      longest.ms = Math.max(longest.ms, performance.now() - since);
    }
    expect(longest.ms).toBeLessThan(1000);
    expect([done, lines.length]).toEqual([false, 1]);
    await reader.sql('COMMIT');
    await migrating;
    expect(await database.sql('SELECT name FROM migrations ORDER BY id')).toEqual(
      MIGRATIONS.map(({ name }) => ({ name })),
    );
    await reader.close();
    await source.destroy();
    await database.drop();
  });

  it('whose answers are lost is given up, and another server may go on', async () => {
    const database = await createDatabase();
    const proxy = await openProxy(database);
    const [near, far] = [await sourceOf(database), await sourceOf(proxy.database)];
    for (const _ of MIGRATIONS) await near.undoLastMigration({ transaction: 'each' });
    const blocker = await openSession(database);
    await blocker.sql('BEGIN');
    await blocker.sql('LOCK TABLE migrations IN ACCESS EXCLUSIVE MODE');
    const lost = migrate(far, { answerSeconds: 0.5, warn: () => undefined }).catch((error: unknown) => error);
    await eventually('it waits', async () => {
      const waiting = await database.sql(
        "SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()",
      );
      return waiting.length > 0;
    });
    proxy.swallow('everything');
    expect(String(await lost)).toMatch(/Connection terminated/);
    await blocker.sql('COMMIT');
    proxy.heal();
    await proxy.cut();
    await migrate(near);
    expect(await database.sql('SELECT FROM migrations')).toHaveLength(MIGRATIONS.length);
    await blocker.close();
    await near.destroy();
    await database.drop();
  });
});
