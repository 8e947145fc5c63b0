import type { Queryable } from '../platform/database/queryable.js';

/** The nonce of the lease by which the run holds the node; undefined: it does not. */
export async function readNonce(database: Queryable, runId: string, nodeId: string): Promise<string | undefined> {
  const { rows } = await database.query<{ nonce: string }>(
    '/* leases.read-nonce */ SELECT nonce FROM leases WHERE node_id = $1 AND run_id = $2',
    [nodeId, runId],
  );
  return rows[0]?.nonce;
}
