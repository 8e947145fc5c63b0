import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from '@jest/globals';
import { DataSource } from 'typeorm';
import { MIGRATIONS } from '../../migrations/all.js';
import { migrate } from '../../src/platform/migrations/migrate.js';
import { createDatabase, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { openSession } from '../support/session.js';

const root = join(import.meta.dirname, '../..');
const CATALOGUE = readFileSync(join(root, 'scripts/schema-from-catalogue.sql'), 'utf8');
const SCHEMA = readFileSync(join(root, 'migrations/schema.sql'), 'utf8');

const open: { close(): Promise<void> }[] = [];

async function migrated(): Promise<{ database: TestDatabase; source: DataSource }> {
  const database = await createDatabase();
  const source = new DataSource({ type: 'postgres', url: database.url, migrations: MIGRATIONS });
  await source.initialize();
  open.push({
    close: async () => {
      await source.destroy();
      await database.drop();
    },
  });
  return { database, source };
}

async function schemaOf({ sql }: TestDatabase): Promise<string[]> {
  const statements = await sql<{ text: string }>(CATALOGUE);
  return linesOf(statements.map(({ text }) => text).join('\n'));
}

function linesOf(text: string): string[] {
  return text.split('\n').filter((line) => line !== '' && !line.startsWith('--'));
}

async function undoAll(source: DataSource): Promise<void> {
  for (const _ of MIGRATIONS) await source.undoLastMigration({ transaction: 'each' });
}

describe('the migrations', () => {
  afterEach(async () => {
    for (const one of open.splice(0)) await one.close();
  });

  it('give what migrations/schema.sql says, on this PostgreSQL too', async () => {
    const { database } = await migrated();
    expect(await schemaOf(database)).toEqual(linesOf(SCHEMA));
  });

  it('leave nothing behind when they are undone, and give the same again', async () => {
    const { database, source } = await migrated();
    await undoAll(source);
    expect(await schemaOf(database)).toEqual([]);
    await source.runMigrations({ transaction: 'each' });
    expect(await schemaOf(database)).toEqual(linesOf(SCHEMA));
  });

  it('wait for another process that is migrating', async () => {
    const { database, source } = await migrated();
    await undoAll(source);
    const session = await openSession(database);
    try {
      await session.sql('SELECT pg_advisory_lock(4711002026)');
      let waits = false;
      let done = false;
      const migrating = migrate(source, { warn: () => (waits = true) }).finally(() => (done = true));
      await eventually('it waits, or is done', () => waits || done);
      expect(done).toBe(false);
      expect(await schemaOf(database)).toEqual([]);
      await session.sql('SELECT pg_advisory_unlock(4711002026)');
      await migrating;
    } finally {
      await session.close();
    }
    expect(await schemaOf(database)).toEqual(linesOf(SCHEMA));
  });

  it('are told by migrations/schema.sql in full: it makes the same schema by itself', async () => {
    const { database, source } = await migrated();
    await undoAll(source);
    await database.sql(SCHEMA);
    expect(await schemaOf(database)).toEqual(linesOf(SCHEMA));
  });
});
