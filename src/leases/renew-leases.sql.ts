import type { Tx } from '../platform/database/queryable.js';

/** Gives the leases of this (locked) node, of runs under way, `lifeSeconds` from now; also where that is earlier. */
export function renewLeases(tx: Tx, nodeId: string, lifeSeconds: number): void {
  tx.send(
    `/* leases.renew */
     UPDATE leases l SET not_after = clock_timestamp() + make_interval(secs => $2)
      WHERE l.node_id = $1 AND EXISTS (SELECT FROM runs r WHERE r.run_id = l.run_id AND r.state = 'RUNNING')`,
    [nodeId, lifeSeconds],
  );
}
