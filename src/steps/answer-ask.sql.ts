import type { Tx } from '../platform/database/queryable.js';

export interface GivenAnswer {
  run_id: string;
  seq: number;
  attempt: number;
  /** JSON. */
  answer: string;
  answered_by: string;
}

/** Answers the question of this attempt, and nobody is told of it any more. False: it is not open. Its run is locked. */
export async function answerAsk(tx: Tx, { run_id, seq, attempt, answer, answered_by }: GivenAnswer): Promise<boolean> {
  const { rows } = await tx.query(
    `/* steps.answer-ask */
     WITH answered AS (
       UPDATE asks SET state = 'ANSWERED', ended_at = clock_timestamp(), answer = $4, answered_by = $5
        WHERE run_id = $1 AND seq = $2 AND attempt = $3 AND state = 'OPEN'
       RETURNING run_id, seq, attempt),
     unnoticed AS (
       DELETE FROM ask_notices n USING answered a
        WHERE n.run_id = a.run_id AND n.seq = a.seq AND n.attempt = a.attempt)
     SELECT seq FROM answered`,
    [run_id, seq, attempt, answer, answered_by],
  );
  return rows.length === 1;
}
