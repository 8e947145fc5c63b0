import type { Queryable } from '../platform/database/queryable.js';

export interface Holding {
  run_id: string;
  since: string;
  not_after: string;
}

/** The leases of these nodes, by node; whoever is free by now is left out. */
export async function readHoldings(database: Queryable, nodeIds: string[]): Promise<Map<string, Holding>> {
  if (nodeIds.length === 0) return new Map();
  const { rows } = await database.query<{ node_id: string; run_id: string; since: Date; not_after: Date }>(
    `/* fleet.read-holdings */
     SELECT node_id, run_id, granted_at AS since, not_after FROM leases WHERE node_id = ANY ($1::text[])`,
    [nodeIds],
  );
  return new Map(
    rows.map(({ node_id, run_id, since, not_after }) => [
      node_id,
      { run_id, since: since.toISOString(), not_after: not_after.toISOString() },
    ]),
  );
}
