/* The PostgreSQL of a benchmark: the embedded one with default durability, in a folder that is removed afterwards. */
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEmbedded } from '../../dist/src/platform/embedded/start-embedded.js';

/** More connections than a Mediator alone would need: several run beside each other, and the peers. */
const SETTINGS = { max_connections: '300' };

export async function startServer() {
  const dataDir = await mkdtemp(join(tmpdir(), 'mediator-bench-'));
  // As root the server runs as somebody else, who has to reach the folder.
  await chmod(dataDir, 0o755);
  const postgres = await startEmbedded({ dataDir, settings: SETTINGS });
  return {
    url: postgres.url,
    dataDir,
    stop: async () => {
      await postgres.stop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}
