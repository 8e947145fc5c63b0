import type { Tx } from '../platform/database/queryable.js';
import { SILENCE } from './servers/periods.sql.js';

/**
 * The nodes whose lease of this (locked) run ran out; none while the run waits for a person: some step is ASKED, and
 * none is claimed or ready on a node. None either where every server was silent for too long, each by its own period (the
 * database, or this process, has stood still since the pass began): nobody was there to renew a lease, and the next look
 * finds the outage.
 */
export async function readExpired(tx: Tx, runId: string, ownSilenceSeconds: number): Promise<string[]> {
  const { rows } = await tx.query<{ node_id: string }>(
    `/* reaper.read-expired */
     SELECT l.node_id FROM leases l
      WHERE l.run_id = $2 AND l.not_after < clock_timestamp()
        AND EXISTS (SELECT FROM servers v
                     WHERE v.stopped_at IS NULL AND v.seen_at > clock_timestamp() - make_interval(secs => ${SILENCE}))
        AND NOT (EXISTS (SELECT FROM steps s WHERE s.run_id = $2 AND s.state = 'ASKED')
                 AND NOT EXISTS (
                   SELECT FROM steps s
                    WHERE s.run_id = $2 AND s.kind IN ('run', 'agent')
                      AND (s.state = 'CLAIMED' OR s.state = 'PENDING' AND NOT EXISTS (
                        SELECT FROM steps n WHERE n.run_id = $2 AND n.id = ANY (s.needs)
                                              AND n.state NOT IN ('DONE', 'SKIPPED')))))
      ORDER BY l.node_id`,
    [ownSilenceSeconds, runId],
  );
  return rows.map((row) => row.node_id);
}
