import type { Tx } from '../platform/database/queryable.js';

export interface NewAsk {
  seq: number;
  attempt: number;
  prompt: string;
  output: string;
  answerers: string[] | null;
  show: string[];
  timeout_seconds: number | null;
}

/** Opens these questions, each with the schema of the contract as it was sent, begins their attempts, and leaves a notice of each to be sent. */
export function insertAsks(tx: Tx, runId: string, asks: NewAsk[]): void {
  tx.send(
    `/* steps.insert-asks */
     WITH raised AS (
       INSERT INTO asks (run_id, seq, attempt, prompt, output, schema, answerers, show, asked_at, deadline)
       SELECT $1, a.seq, a.attempt, a.prompt, a.output, r.contract->'steps'->(a.seq - 1)->'schema'->a.output,
              CASE WHEN json_typeof(a.answerers) = 'array' THEN ARRAY(SELECT json_array_elements_text(a.answerers)) END,
              ARRAY(SELECT json_array_elements_text(a.show)), now.at,
              now.at + make_interval(secs => a.timeout_seconds)
         FROM json_to_recordset($2::json) AS a (seq integer, attempt integer, prompt text, output text,
                                                answerers json, show json, timeout_seconds float8)
         JOIN runs r ON r.run_id = $1,
              (SELECT clock_timestamp() AS at) AS now
       RETURNING run_id, seq, attempt, asked_at),
     noticed AS (INSERT INTO ask_notices (run_id, seq, attempt) SELECT run_id, seq, attempt FROM raised)
     INSERT INTO attempts (run_id, seq, attempt, state, started_at)
     SELECT run_id, seq, attempt, 'ASKED', asked_at FROM raised`,
    [runId, JSON.stringify(asks)],
  );
}
