/*
 * One PostgreSQL for all database tests: the embedded one without fsync, or that of TEST_DATABASE_URL. The migrations run
 * once, in a template database; each suite clones it. Works on the compiled program, so `npm test` builds first.
 */
import pg from 'pg';
import { DataSource } from 'typeorm';
import { startPostgres } from './start-postgres.mjs';

export default async function setup() {
  const { MIGRATIONS } = await import('../../dist/migrations/all.js');
  const { migrate } = await import('../../dist/src/platform/migrations/migrate.js');

  const { url, stop } = await startPostgres();

  const template = `template_${process.pid}`;
  const admin = new pg.Client({ connectionString: url });
  await admin.connect();
  await admin.query(`CREATE DATABASE ${template}`);
  const templateUrl = withDatabase(url, template);
  const source = await new DataSource({ type: 'postgres', url: templateUrl, migrations: MIGRATIONS }).initialize();
  await migrate(source);
  await source.destroy();

  process.env.MEDIATOR_TEST_ADMIN_URL = url;
  process.env.MEDIATOR_TEST_TEMPLATE = template;
  globalThis.stopTestDatabase = async () => {
    await admin.query(`DROP DATABASE ${template} WITH (FORCE)`);
    await admin.end();
    await stop();
  };
}

function withDatabase(url, name) {
  return url.replace(/\/[^/?]*(\?|$)/, `/${name}$1`);
}
