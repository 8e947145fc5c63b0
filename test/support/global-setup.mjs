/*
 * One PostgreSQL for all database tests: the embedded one without fsync, or that of TEST_DATABASE_URL. The migrations run
 * once, in a template database; each suite clones it. Works on the compiled program, so `npm test` builds first.
 */
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { DataSource } from 'typeorm';

export default async function setup() {
  const { MIGRATIONS } = await import('../../dist/migrations/all.js');
  const { migrate } = await import('../../dist/src/platform/database/migrate.js');

  let url = process.env.TEST_DATABASE_URL;
  let stop = async () => {};
  if (!url) {
    const { startEmbedded } = await import('../../dist/src/platform/embedded/start-embedded.js');
    const dataDir = await mkdtemp(join(tmpdir(), 'mediator-test-'));
    // As root the server runs as somebody else, who has to reach the folder.
    await chmod(dataDir, 0o755);
    const settings = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off', max_connections: '200' };
    const server = await startEmbedded({ dataDir, settings });
    url = server.url;
    stop = async () => {
      await server.stop();
      await rm(dataDir, { recursive: true, force: true });
    };
  }

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
