import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Location } from './choose-location.js';
import { EmbeddedError } from './embedded-error.js';
import { findPostmaster } from './find-postmaster.js';
import { openLocked } from './open-locked.js';
import { signalPostmaster } from './signal-postmaster.js';

const IMMEDIATE_AFTER_MS = 30_000;
const GIVE_UP_AFTER_MS = 60_000;

/**
 * The second lock, inherited by the supervising shell and by every process of the server, and held by nobody else once
 * they run: who gets it knows that nothing of a former server is alive. Taken under the owner lock, so whoever holds it
 * is left over from a Mediator that died. It is stopping by itself; should its shell have died as well, it is told to.
 */
export async function takeServerLock(
  { home, user }: Location,
  cluster: string,
  log: (line: string) => void,
): Promise<number> {
  const path = join(home, 'server.lock');
  const since = Date.now();
  let waiting = false;
  let forced = false;
  for (;;) {
    const fd = openLocked(path, user);
    if (fd !== undefined) return fd;
    const waited = Date.now() - since;
    if (!waiting) {
      waiting = true;
      log(`waiting for the PostgreSQL left over in ${cluster} to end (pid ${findPostmaster(cluster) ?? 'unknown'})`);
      signalPostmaster(cluster, 'SIGINT');
    }
    if (!forced && waited > IMMEDIATE_AFTER_MS) {
      forced = true;
      signalPostmaster(cluster, 'SIGQUIT');
    }
    if (waited > GIVE_UP_AFTER_MS) {
      throw new EmbeddedError(
        `A PostgreSQL left over in ${cluster} (pid ${findPostmaster(cluster) ?? 'unknown'}) does not end. Stop it by hand and start again.`,
      );
    }
    await pause(50);
  }
}
