/**
 * As a part of a statement that has a part `run (run_id)` and the steps of its contract, as `stepRows` gives them, in a part
 * `given (steps)`: inserts them, PENDING.
 */
export const INSERT_STEPS = `/* steps.insert */
  INSERT INTO steps (run_id, seq, id, kind, uses, needs, timeout_seconds, node_id)
  SELECT run.run_id, step.*
    FROM run, given, json_to_recordset(given.steps) AS step (seq integer, id text, kind text, uses text, needs text[],
                                                             timeout_seconds float8, node_id text)`;
