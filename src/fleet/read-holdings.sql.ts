import type { Queryable } from '../platform/database/queryable.js';

export interface Holding {
  run_id: string;
  /** Who submitted the run. */
  principal: string;
  since: string;
  not_after: string;
}

/** The leases of these nodes, by node; whoever is free by now is left out. */
export async function readHoldings(database: Queryable, nodeIds: string[]): Promise<Map<string, Holding>> {
  if (nodeIds.length === 0) return new Map();
  const { rows } = await database.query<{
    node_id: string;
    run_id: string;
    principal: string;
    since: Date;
    not_after: Date;
  }>(
    `/* fleet.read-holdings */
     SELECT l.node_id, l.run_id, r.principal, l.granted_at AS since, l.not_after
       FROM leases l JOIN runs r USING (run_id) WHERE l.node_id = ANY ($1::text[])`,
    [nodeIds],
  );
  return new Map(
    rows.map(({ node_id, run_id, principal, since, not_after }) => [
      node_id,
      { run_id, principal, since: since.toISOString(), not_after: not_after.toISOString() },
    ]),
  );
}
