import type { Tx } from '../platform/database/queryable.js';
import { type IfMatch, isMatch } from '../platform/http/if-match.js';
import { Problem } from '../platform/http/problem.js';
import { readVersion } from './read-version.sql.js';
import { shownVersion } from './shown-version.js';

/** Throws version_mismatch where If-Match names another version than the run, which is there and locked, has now. */
export async function refuseOtherVersion(tx: Tx, runId: string, ifMatch: IfMatch | undefined): Promise<void> {
  // Without a condition there is nothing to ask for.
  if (ifMatch === undefined) return;
  const version = shownVersion(await readVersion(tx, runId));
  if (isMatch(ifMatch, version)) return;
  throw new Problem('version_mismatch', `run ${runId} is at version ${version}, which If-Match does not name`);
}
