import type { Tx } from '../platform/database/queryable.js';

/** Forgets changes that everybody who keeps the fleet in memory has read, or has given up to. False: there were none. */
export async function forgetFleetChanges(tx: Tx): Promise<boolean> {
  const { affected } = await tx.query(
    "/* fleet.forget-changes */ DELETE FROM fleet_changes WHERE at < clock_timestamp() - interval '10 min'",
  );
  return affected > 0;
}
