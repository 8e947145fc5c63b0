import type { RunState } from '../domain/states.js';
import type { Queryable } from '../platform/database/queryable.js';

export type AskState = 'OPEN' | 'ANSWERED' | 'EXPIRED' | 'CANCELLED';

/** The last question that a step has raised, and where its run stands; without `state` it has raised none. */
export type Question = { run_state: RunState; id: string | null } & (
  | { state: null }
  | {
      state: AskState;
      attempt: number;
      output: string;
      schema: unknown;
      answerers: string[] | null;
      answered_by: string | null;
    }
);

/** Undefined: there is no such run. Its `id` is null where the run has no such step. */
export async function readQuestion(database: Queryable, runId: string, seq: number): Promise<Question | undefined> {
  const { rows } = await database.query<Question>(
    `/* asks.read-question */
     SELECT r.state AS run_state, s.id, a.state, a.attempt, a.output, a.schema, a.answerers, a.answered_by
       FROM runs r
       LEFT JOIN steps s ON s.run_id = r.run_id AND s.seq = $2
       LEFT JOIN LATERAL (
         SELECT * FROM asks WHERE run_id = s.run_id AND seq = s.seq ORDER BY attempt DESC LIMIT 1) AS a ON true
      WHERE r.run_id = $1`,
    [runId, seq],
  );
  return rows[0];
}
