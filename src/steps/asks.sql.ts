import { type Write, write } from '../platform/database/statement.js';

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
export function insertAsks(runId: string, asks: NewAsk[]): Write<void> {
  return write({
    name: 'steps.insert-asks',
    with: `
     raised AS (
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
     noticed AS (INSERT INTO ask_notices (run_id, seq, attempt) SELECT run_id, seq, attempt FROM raised)`,
    text: `
     INSERT INTO attempts (run_id, seq, attempt, state, started_at)
     SELECT run_id, seq, attempt, 'ASKED', asked_at FROM raised`,
    params: [runId, JSON.stringify(asks)],
    rows: asks.length,
    otherwise: 'gone',
  });
}

export interface GivenAnswer {
  run_id: string;
  seq: number;
  attempt: number;
  /** JSON. */
  answer: string;
  answered_by: string;
}

/** Answers the question of this attempt, and deletes its notice. False: it is not open. Its run is locked. */
export function answerAsk({ run_id, seq, attempt, answer, answered_by }: GivenAnswer): Write<boolean> {
  return write({
    name: 'steps.answer-ask',
    text: `
     WITH answered AS (
       UPDATE asks SET state = 'ANSWERED', ended_at = clock_timestamp(), answer = $4, answered_by = $5
        WHERE run_id = $1 AND seq = $2 AND attempt = $3 AND state = 'OPEN'
       RETURNING run_id, seq, attempt),
     unnoticed AS (
       DELETE FROM ask_notices n USING answered a
        WHERE n.run_id = a.run_id AND n.seq = a.seq AND n.attempt = a.attempt)
     SELECT seq FROM answered`,
    params: [run_id, seq, attempt, answer, answered_by],
    rows: 'any',
    as: (rows: unknown[]) => rows.length === 1,
  });
}

/** Closes the open questions of the (locked) run, of these steps or all of them, unanswered; and the notices of them. */
export function closeAsks(runId: string, state: 'EXPIRED' | 'CANCELLED', seqs: number[] | null = null): Write<void> {
  return write({
    name: 'steps.close-asks',
    with: 'unnoticed AS (DELETE FROM ask_notices WHERE run_id = $1 AND ($3::int[] IS NULL OR seq = ANY ($3)))',
    text: `
     UPDATE asks SET state = $2, ended_at = clock_timestamp()
      WHERE run_id = $1 AND state = 'OPEN' AND ($3::int[] IS NULL OR seq = ANY ($3))`,
    params: [runId, state, seqs],
    rows: 'any',
  });
}
