import { closeSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { checkMajor, chooseLocation, type Location } from './choose-location.js';
import { createCluster } from './create-cluster.js';
import { takeOwnerLock, takeServerLock } from './locks.js';
import { clearStalePid } from './postmaster.js';
import { type Binaries, findBinaries, prepareBinaries } from './prepare-binaries.js';
import { type EmbeddedServer, openServerLog, startServer } from './start-server.js';

export interface EmbeddedOptions {
  dataDir: string;
  /** Server settings over the defaults, such as `fsync: 'off'` for tests. */
  settings?: Record<string, string>;
  log?: (line: string) => void;
}

/**
 * Runs PostgreSQL for this process alone, from the first start's initdb on. It serves one Mediator at a time per data
 * directory, ends when this process ends, and does not upgrade data of another major version.
 */
export async function startEmbedded(options: EmbeddedOptions): Promise<EmbeddedServer> {
  const binaries = findBinaries();
  const location = await chooseLocation(resolve(options.dataDir));
  const ownerFd = await takeOwnerLock(location);
  try {
    return await startOwned(options, binaries, location, () => closeSync(ownerFd));
  } catch (error) {
    closeSync(ownerFd);
    throw error;
  }
}

async function startOwned(
  options: EmbeddedOptions,
  found: Binaries,
  location: Location,
  disown: () => void,
): Promise<EmbeddedServer> {
  const { settings = {}, log = () => undefined } = options;
  const cluster = join(location.home, `postgres-${found.major}`);
  const binaries = await prepareBinaries(found, location, log);
  const lockFd = await takeServerLock(location, cluster, log);
  const serverLog = openServerLog(location);
  try {
    if (checkMajor(location.home, cluster, found.major)) clearStalePid(location, cluster, log);
    else {
      log(`creating a PostgreSQL ${found.major} database in ${cluster}`);
      await createCluster({ cluster, binaries, lockFd, durable: settings.fsync !== 'off' }, location, serverLog);
    }
  } catch (error) {
    closeSync(lockFd);
    serverLog.close();
    throw error;
  }
  return startServer({ cluster, binaries, lockFd, settings, location, serverLog, log, disown });
}
