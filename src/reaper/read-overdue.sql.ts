import type { Tx } from '../platform/database/queryable.js';
import type { Overdue } from './find-overdue.sql.js';

export interface OverdueAsk {
  id: string;
  attempt: number;
  output: string;
  /** What the contract has as its default, as it was sent; null: it has none. */
  default_answer: string | null;
}

/** The question of this step, if it is still open and past its time; its run is locked. */
export async function readOverdueAsk(tx: Tx, { run_id, seq }: Overdue): Promise<OverdueAsk | undefined> {
  const { rows } = await tx.query<OverdueAsk>(
    `/* reaper.read-overdue-ask */
     SELECT s.id, a.attempt, a.output, (r.contract->'steps'->(s.seq - 1)->'ask'->'default')::text AS default_answer
       FROM asks a JOIN steps s USING (run_id, seq, attempt) JOIN runs r USING (run_id)
      WHERE a.run_id = $1 AND a.seq = $2 AND a.state = 'OPEN' AND a.deadline < clock_timestamp() AND s.state = 'ASKED'`,
    [run_id, seq],
  );
  return rows[0];
}

/**
 * The step, if it is still claimed and past its time and grace; its run is locked. A node that has not spoken since an
 * outage may have been done in time: it is given the time to say so.
 */
export async function readOverdueStep(
  tx: Tx,
  { run_id, seq }: Overdue,
  graceSeconds: number,
): Promise<{ id: string; node_id: string; timeout_seconds: number } | undefined> {
  const { rows } = await tx.query<{ id: string; node_id: string; timeout_seconds: number }>(
    `/* reaper.read-overdue-step */
     SELECT id, node_id, timeout_seconds FROM steps JOIN nodes n USING (node_id)
      WHERE run_id = $1 AND seq = $2 AND state = 'CLAIMED' AND NOT n.revived
        AND started_at + make_interval(secs => timeout_seconds + $3) < clock_timestamp()`,
    [run_id, seq, graceSeconds],
  );
  return rows[0];
}
