import { type Read, read, type Write, write } from '../platform/database/statement.js';
import type { LogKey } from '../records/record-bodies.sql.js';
import { COUNT_BYTES } from './run-bytes.sql.js';

export interface LogNow {
  size: number;
  /** The limit was reached: nothing more is taken. */
  cut: boolean;
}

/** The log as it is; its run is locked, so that appends take turns. Undefined: nothing was written to it yet. */
export function readLog({ run_id, seq, attempt, name }: LogKey): Read<LogNow | undefined> {
  return read({
    name: 'bodies.read-log',
    text: `
     SELECT size::float8 AS size, cut FROM logs
      WHERE run_id = $1 AND seq = $2 AND attempt = $3 AND name = $4`,
    params: [run_id, seq, attempt, name],
    as: (rows: LogNow[]) => rows[0],
  });
}

/** Whether a step may begin a log of this name: it has one of another attempt, or not `most` others. */
export function mayNameLog({ run_id, seq, name }: LogKey, most: number): Read<boolean> {
  return read({
    name: 'bodies.may-name-log',
    text: `
     SELECT count(DISTINCT name) < $4 OR coalesce(bool_or(name = $3), false) AS may
       FROM logs WHERE run_id = $1 AND seq = $2`,
    params: [run_id, seq, name, most],
    as: (rows: { may: boolean }[]) => rows[0]!.may,
  });
}

/** Begins the log. */
export function insertLog({ run_id, seq, attempt, name }: LogKey): Write<void> {
  return write({
    name: 'bodies.insert-log',
    text: `
     INSERT INTO logs (run_id, seq, attempt, name) VALUES ($1, $2, $3, $4)`,
    params: [run_id, seq, attempt, name],
    otherwise: 'gone',
  });
}

/** Adds bytes at the end of the (locked) log. False: its run may not store so many. */
export function appendLog(
  { run_id, seq, attempt, name }: LogKey,
  at: number,
  bytes: Buffer,
  cut: boolean,
  maxRunBytes: number,
): Write<boolean> {
  return write({
    name: 'bodies.append-log',
    text: `
     WITH counted AS (${COUNT_BYTES}),
     grown AS (
       UPDATE logs SET size = $7::bigint + $2::bigint, cut = $9 FROM counted
        WHERE logs.run_id = $1 AND seq = $4 AND attempt = $5 AND name = $6)
     INSERT INTO log_chunks (run_id, seq, attempt, name, at, bytes) SELECT $1, $4, $5, $6, $7, $8 FROM counted`,
    params: [run_id, bytes.length, maxRunBytes, seq, attempt, name, at, bytes, cut],
    rows: 'any',
    as: (_rows, touched) => touched === 1,
  });
}

/** A log of a step; of its current attempt unless one is named. */
export interface WantedLog extends Omit<LogKey, 'attempt'> {
  attempt: number | null;
}

export interface FoundLog {
  attempt: number;
  /** Null: nothing has come yet. */
  size: number | null;
  /** Whether more can come. */
  grows: boolean;
}

/** Whether a log `l` of the attempt `attempt` of a step `s` can get more: its node may send it, and it is not cut. */
const grows = (attempt: string): string =>
  `(s.attempt = ${attempt} AND s.ended_at IS NULL AND s.kind IN ('run', 'agent') AND NOT coalesce(l.cut, false))`;

/** The log as it is now. Undefined: there is no such step. */
export function findLog(wanted: WantedLog): Read<FoundLog | undefined> {
  return read({
    name: 'bodies.find-log',
    text: `
     SELECT w.attempt, l.size::float8 AS size, ${grows('w.attempt')} AS grows
       FROM steps s
      CROSS JOIN LATERAL (SELECT coalesce($3::int, s.attempt) AS attempt) w
       LEFT JOIN logs l ON l.run_id = s.run_id AND l.seq = s.seq AND l.attempt = w.attempt AND l.name = $4
      WHERE s.run_id = $1 AND s.seq = $2`,
    params: [wanted.run_id, wanted.seq, wanted.attempt, wanted.name],
    as: (rows: FoundLog[]) => rows[0],
  });
}

/** Of the logs that are waited for, by their place in the list: those with another size by now, or that get no more. */
export function findChangedLogs(waiting: (WantedLog & { size: number })[]): Read<number[]> {
  return read({
    name: 'bodies.find-changed-logs',
    text: `
     SELECT (w.place - 1)::int AS place
       FROM unnest($1::text[], $2::int[], $3::int[], $4::text[], $5::float8[])
            WITH ORDINALITY AS w (run_id, seq, attempt, name, size, place)
       LEFT JOIN steps s ON s.run_id = w.run_id COLLATE "C" AND s.seq = w.seq
       LEFT JOIN logs l ON l.run_id = s.run_id AND l.seq = s.seq AND l.attempt = coalesce(w.attempt, s.attempt)
                       AND l.name = w.name COLLATE "C"
      WHERE coalesce(l.size, 0) <> w.size OR NOT coalesce(${grows('coalesce(w.attempt, s.attempt)')}, false)`,
    params: [
      waiting.map((one) => one.run_id),
      waiting.map((one) => one.seq),
      waiting.map((one) => one.attempt),
      waiting.map((one) => one.name),
      waiting.map((one) => one.size),
    ],
    as: (rows: { place: number }[]) => rows.map((row) => row.place),
  });
}
