import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The PostgreSQL that tests run on: that of TEST_DATABASE_URL, or the embedded one without fsync. */
export async function startPostgres(moreSettings = {}) {
  const given = process.env.TEST_DATABASE_URL;
  if (given) return { url: given, stop: async () => {} };
  const { startEmbedded } = await import('../../dist/src/platform/embedded/start-embedded.js');
  const dataDir = await mkdtemp(join(tmpdir(), 'mediator-test-'));
  // As root the server runs as somebody else, who has to reach the folder.
  await chmod(dataDir, 0o755);
  const settings = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off', max_connections: '200' };
  const server = await startEmbedded({ dataDir, settings: { ...settings, ...moreSettings } });
  return {
    url: server.url,
    dataDir,
    stop: async () => {
      await server.stop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}
