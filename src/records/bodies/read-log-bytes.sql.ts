import type { Queryable } from '../../platform/database/queryable.js';
import type { LogKey } from '../append-log.sql.js';

/** The bytes of a log from `from` to before `to`, as far as they are there. */
export async function readLogBytes(
  database: Queryable,
  { run_id, seq, attempt, name }: LogKey,
  from: number,
  to: number,
): Promise<Uint8Array> {
  const { rows } = await database.query<{ bytes: Buffer | null }>(
    `/* records.read-log-bytes */
     SELECT string_agg(substring(c.bytes FROM greatest($5::bigint - c.at, 0)::int + 1
                         FOR greatest(least(c.at + length(c.bytes), $6::bigint) - greatest(c.at, $5), 0)::int),
                       ''::bytea ORDER BY c.at) AS bytes
       FROM log_chunks c
      WHERE (c.run_id, c.seq, c.attempt, c.name) = ($1, $2, $3, $4) AND c.at < $6
        AND c.at >= (SELECT max(f.at) FROM log_chunks f
                      WHERE (f.run_id, f.seq, f.attempt, f.name) = ($1, $2, $3, $4) AND f.at <= $5)`,
    [run_id, seq, attempt, name, from, to],
  );
  return rows[0]?.bytes ?? new Uint8Array();
}
