import type { Requirement } from '../domain/contract/contract.js';
import type { Queryable } from '../platform/database/queryable.js';
import type { Keyset } from '../platform/http/cursor.js';

export interface Gap {
  /** Index of the place that the gap lies before. */
  place: number;
  signature: string;
  count: number;
}

/**
 * For places in the queue, in arrival order: how many queued runs of which signature lie between the place before (or
 * the queue's head) and each. One range of the index per place; no row is looked at twice.
 */
export async function readGaps(database: Queryable, places: Keyset[]): Promise<Gap[]> {
  const { rows } = await database.query<Gap>(
    `/* queue.read-gaps */
     WITH place AS (
       SELECT ordinality::int - 1 AS place, created_at, seq,
              coalesce(lag(created_at) OVER (ORDER BY ordinality), '-infinity') AS from_at,
              coalesce(lag(seq) OVER (ORDER BY ordinality), 0) AS from_seq
         FROM unnest($1::timestamptz[], $2::bigint[]) WITH ORDINALITY AS given (created_at, seq, ordinality))
     SELECT place, signature, count(*)::int AS count
       FROM place CROSS JOIN LATERAL (
         SELECT q.signature FROM runs q
          WHERE q.state = 'QUEUED' AND (q.created_at, q.seq) >= (from_at, from_seq)
            AND (q.created_at, q.seq) < (place.created_at, place.seq)) AS older
      GROUP BY place, signature`,
    [places.map((place) => place.created_at), places.map((place) => place.seq)],
  );
  return rows;
}

/** What queued runs of these signatures need; one is read for each signature. */
export async function readRequires(database: Queryable, signatures: string[]): Promise<Map<string, Requirement[]>> {
  const { rows } = await database.query<{ signature: string; requires: Requirement[] }>(
    `/* queue.read-requires */
     SELECT signature, requires
       FROM unnest($1::text[]) AS given (signature) CROSS JOIN LATERAL (
         SELECT requires FROM runs q WHERE q.state = 'QUEUED' AND q.signature = given.signature LIMIT 1) AS any_of_them`,
    [signatures],
  );
  return new Map(rows.map((row) => [row.signature, row.requires]));
}
