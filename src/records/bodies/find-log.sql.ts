import type { Queryable } from '../../platform/database/queryable.js';
import type { LogKey } from '../append-log.sql.js';

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
export async function findLog(database: Queryable, wanted: WantedLog): Promise<FoundLog | undefined> {
  const { rows } = await database.query<FoundLog>(
    `/* records.find-log */
     SELECT w.attempt, l.size::float8 AS size, ${grows('w.attempt')} AS grows
       FROM steps s
      CROSS JOIN LATERAL (SELECT coalesce($3::int, s.attempt) AS attempt) w
       LEFT JOIN logs l ON l.run_id = s.run_id AND l.seq = s.seq AND l.attempt = w.attempt AND l.name = $4
      WHERE s.run_id = $1 AND s.seq = $2`,
    [wanted.run_id, wanted.seq, wanted.attempt, wanted.name],
  );
  return rows[0];
}

/** Of the logs that are waited for, by their place in the list: those with another size by now, or that get no more. */
export async function findChangedLogs(
  database: Queryable,
  waiting: (WantedLog & { size: number })[],
): Promise<number[]> {
  const { rows } = await database.query<{ place: number }>(
    `/* records.find-changed-logs */
     SELECT (w.place - 1)::int AS place
       FROM unnest($1::text[], $2::int[], $3::int[], $4::text[], $5::float8[])
            WITH ORDINALITY AS w (run_id, seq, attempt, name, size, place)
       LEFT JOIN steps s ON s.run_id = w.run_id COLLATE "C" AND s.seq = w.seq
       LEFT JOIN logs l ON l.run_id = s.run_id AND l.seq = s.seq AND l.attempt = coalesce(w.attempt, s.attempt)
                       AND l.name = w.name COLLATE "C"
      WHERE coalesce(l.size, 0) <> w.size OR NOT coalesce(${grows('coalesce(w.attempt, s.attempt)')}, false)`,
    [
      waiting.map((one) => one.run_id),
      waiting.map((one) => one.seq),
      waiting.map((one) => one.attempt),
      waiting.map((one) => one.name),
      waiting.map((one) => one.size),
    ],
  );
  return rows.map((row) => row.place);
}
