import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Location } from './choose-location.js';
import { EmbeddedInUseError } from './embedded-error.js';
import { findPostmaster } from './find-postmaster.js';
import { removeAs } from './remove-as.js';

/**
 * Under the server lock no server of ours is alive, so a postmaster.pid is stale, even if its number now belongs to some
 * process, which PostgreSQL itself takes for a running server. A server started by hand holds no lock of ours, hence the look.
 */
export function clearStalePid({ home, user }: Location, cluster: string, log: (line: string) => void): void {
  const file = join(cluster, 'postmaster.pid');
  if (!existsSync(file)) return;
  const pid = findPostmaster(cluster);
  if (pid !== undefined) throw new EmbeddedInUseError(home, pid, 'a PostgreSQL that no Mediator started');
  log(`removing a stale ${file}`);
  removeAs(user, file);
}
