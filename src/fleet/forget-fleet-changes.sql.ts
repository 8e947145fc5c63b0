import { KEPT_SECONDS } from '../platform/database/followed.js';
import type { Tx } from '../platform/database/queryable.js';

/** Forgets changes that everybody who keeps the fleet in memory has read, or has given up to. False: there were none. */
export async function forgetFleetChanges(tx: Tx): Promise<boolean> {
  const { affected } = await tx.query(
    '/* fleet.forget-changes */ DELETE FROM fleet_changes WHERE at < clock_timestamp() - make_interval(secs => $1)',
    [KEPT_SECONDS],
  );
  return affected > 0;
}
