import type { Tx } from '../platform/database/queryable.js';
import { type IfMatch, isMatch } from '../platform/http/if-match.js';
import { Problem } from '../platform/http/problem.js';
import { readVersion, type Versioned } from './runs.sql.js';

/**
 * The version of a run as it is shown: one higher once its record is SEALED and one more once that is PURGED, neither of
 * which changes the run itself, so that everybody who waits for a change, or has kept the run, learns of both.
 */
export function shownVersion({ version, digest, purged }: Versioned): number {
  return Number(version) + (digest === null ? 0 : 1) + (purged ? 1 : 0);
}

/** Throws version_mismatch where If-Match names another version than the run, which is there and locked, has now. */
export async function refuseOtherVersion(tx: Tx, runId: string, ifMatch: IfMatch | undefined): Promise<void> {
  // Without a condition there is nothing to ask for.
  if (ifMatch === undefined) return;
  const version = shownVersion(await tx.ask(readVersion(runId)));
  if (isMatch(ifMatch, version)) return;
  throw new Problem('version_mismatch', `run ${runId} is at version ${version}, which If-Match does not name`);
}
