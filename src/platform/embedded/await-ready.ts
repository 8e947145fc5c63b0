import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { EmbeddedError } from './embedded-error.js';
import type { Supervised } from './supervise.js';

// Recovery after a crash replays at most max_wal_size (1 GB), which takes seconds.
const GIVE_UP_AFTER_MS = 120_000;
const STATUS_LINE = 7;

/** Reads what the postmaster writes about itself, as pg_ctl does; a connection attempt would only fill the log. */
export async function awaitReady(cluster: string, server: Supervised): Promise<void> {
  let how: string | undefined;
  void server.ended.then((end) => (how = end.how));
  for (const since = Date.now(); Date.now() - since < GIVE_UP_AFTER_MS; await pause(10)) {
    if (how !== undefined) throw new EmbeddedError(`PostgreSQL did not start: it ${how}.`);
    if (status(cluster) === 'ready') return;
  }
  throw new EmbeddedError(`PostgreSQL was not ready within ${GIVE_UP_AFTER_MS / 1000} s.`);
}

function status(cluster: string): string | undefined {
  try {
    return readFileSync(join(cluster, 'postmaster.pid'), 'utf8').split('\n')[STATUS_LINE]?.trim();
  } catch {
    return undefined;
  }
}
