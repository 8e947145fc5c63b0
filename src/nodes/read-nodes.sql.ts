import type { Drain } from '../domain/drain.js';
import type { CapabilityEntry } from '../domain/matching/fleet.js';
import { OFFERED } from '../fleet/offered.js';
import type { Queryable } from '../platform/database/queryable.js';

export interface NodeRow {
  node_id: string;
  label: string;
  capabilities: CapabilityEntry[];
  drain: Drain;
  seen_at: Date;
  expires_at: Date;
  live: boolean;
  run_id: string | null;
  principal: string;
  since: Date;
  not_after: Date;
}

/** The nodes by node_id: the live ones, or all that ever advertised; and when that was. */
export async function readNodes(database: Queryable, all: boolean): Promise<{ observed_at: Date; nodes: NodeRow[] }> {
  const { rows } = await database.query<NodeRow & { observed_at: Date }>(
    `/* nodes.read */
     SELECT now.at AS observed_at, n.node_id, n.label, ${OFFERED} AS capabilities, n.drain, n.seen_at, n.expires_at,
            n.expires_at > now.at AS live, l.run_id, r.principal, l.granted_at AS since, l.not_after
       FROM (SELECT clock_timestamp() AS at) AS now
       LEFT JOIN nodes n ON $1 OR n.expires_at > now.at
       LEFT JOIN leases l USING (node_id)
       LEFT JOIN runs r USING (run_id)
      ORDER BY n.node_id`,
    [all],
  );
  return { observed_at: rows[0]!.observed_at, nodes: rows.filter((row) => row.node_id !== null) };
}
