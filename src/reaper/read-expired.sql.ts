import type { Tx } from '../platform/database/queryable.js';

/**
 * The nodes whose lease of this (locked) run ran out; none while the run waits for a person: some step is ASKED, and
 * none is claimed or ready on a node.
 */
export async function readExpired(tx: Tx, runId: string): Promise<string[]> {
  const { rows } = await tx.query<{ node_id: string }>(
    `/* reaper.read-expired */
     SELECT l.node_id FROM leases l
      WHERE l.run_id = $1 AND l.not_after < clock_timestamp()
        AND NOT (EXISTS (SELECT FROM steps s WHERE s.run_id = $1 AND s.state = 'ASKED')
                 AND NOT EXISTS (
                   SELECT FROM steps s
                    WHERE s.run_id = $1 AND s.kind IN ('run', 'agent')
                      AND (s.state = 'CLAIMED' OR s.state = 'PENDING' AND NOT EXISTS (
                        SELECT FROM steps n WHERE n.run_id = $1 AND n.id = ANY (s.needs)
                                              AND n.state NOT IN ('DONE', 'SKIPPED')))))
      ORDER BY l.node_id`,
    [runId],
  );
  return rows.map((row) => row.node_id);
}
