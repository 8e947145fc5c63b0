import type { Tx } from '../platform/database/queryable.js';
import { COUNT_BYTES } from './run-bytes.sql.js';

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

/** Whether a step may begin a log of this name: it has one of another attempt, or not `most` others. */
export async function mayNameLog(tx: Tx, { run_id, seq, name }: LogKey, most: number): Promise<boolean> {
  const { rows } = await tx.query<{ may: boolean }>(
    `/* records.may-name-log */
     SELECT count(DISTINCT name) < $4 OR coalesce(bool_or(name = $3), false) AS may
       FROM logs WHERE run_id = $1 AND seq = $2`,
    [run_id, seq, name, most],
  );
  return rows[0]!.may;
}

/** Begins the log. */
export async function insertLog(tx: Tx, { run_id, seq, attempt, name }: LogKey): Promise<void> {
  await tx.query(
    `/* records.insert-log */
     INSERT INTO logs (run_id, seq, attempt, name) VALUES ($1, $2, $3, $4)`,
    [run_id, seq, attempt, name],
  );
}

/** Adds bytes at the end of the (locked) log. False: its run may not store so many. */
export async function appendLog(
  tx: Tx,
  { run_id, seq, attempt, name }: LogKey,
  at: number,
  bytes: Buffer,
  cut: boolean,
  maxRunBytes: number,
): Promise<boolean> {
  const { affected } = await tx.query(
    `/* records.append-log */
     WITH counted AS (${COUNT_BYTES}),
     grown AS (
       UPDATE logs SET size = $7::bigint + $2::bigint, cut = $9 FROM counted
        WHERE logs.run_id = $1 AND seq = $4 AND attempt = $5 AND name = $6)
     INSERT INTO log_chunks (run_id, seq, attempt, name, at, bytes) SELECT $1, $4, $5, $6, $7, $8 FROM counted`,
    [run_id, bytes.length, maxRunBytes, seq, attempt, name, at, bytes, cut],
  );
  return affected === 1;
}
