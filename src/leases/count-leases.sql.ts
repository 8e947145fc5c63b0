import type { Tx } from '../platform/database/queryable.js';

/** How many nodes the (locked) run holds. */
export async function countLeases(tx: Tx, runId: string): Promise<number> {
  const { rows } = await tx.query<{ count: number }>(
    '/* leases.count */ SELECT count(*)::int AS count FROM leases WHERE run_id = $1',
    [runId],
  );
  return rows[0]!.count;
}
