import type { Tx } from '../platform/database/queryable.js';

export interface LogKey {
  run_id: string;
  seq: number;
  attempt: number;
  name: string;
}

export interface LogNow {
  size: number;
  /** The limit was reached: nothing more is taken. */
  cut: boolean;
}

/** The log as it is; its run is locked, so that appends take turns. Undefined: nothing was written to it yet. */
export async function readLog(tx: Tx, { run_id, seq, attempt, name }: LogKey): Promise<LogNow | undefined> {
  const { rows } = await tx.query<LogNow>(
    `/* records.read-log */
     SELECT size::float8 AS size, cut FROM logs
      WHERE run_id = $1 AND seq = $2 AND attempt = $3 AND name = $4`,
    [run_id, seq, attempt, name],
  );
  return rows[0];
}

/** Begins the log. */
export async function insertLog(tx: Tx, { run_id, seq, attempt, name }: LogKey): Promise<void> {
  await tx.query(
    `/* records.insert-log */
     INSERT INTO logs (run_id, seq, attempt, name) VALUES ($1, $2, $3, $4)`,
    [run_id, seq, attempt, name],
  );
}

/** Adds bytes at the end of the (locked) log. */
export async function appendLog(
  tx: Tx,
  { run_id, seq, attempt, name }: LogKey,
  at: number,
  bytes: Buffer,
  cut: boolean,
): Promise<void> {
  await tx.query(
    `/* records.append-log */
     WITH grown AS (
       UPDATE logs SET size = $5::bigint + length($6::bytea), cut = $7
        WHERE run_id = $1 AND seq = $2 AND attempt = $3 AND name = $4)
     INSERT INTO log_chunks (run_id, seq, attempt, name, at, bytes) VALUES ($1, $2, $3, $4, $5, $6)`,
    [run_id, seq, attempt, name, at, bytes, cut],
  );
}
