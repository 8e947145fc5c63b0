import type { Requirement } from '../domain/contract/contract.js';
import type { QueuedRun } from '../domain/sweep/queue-line.js';
import type { Queryable } from '../platform/database/queryable.js';

/** The oldest run of those that need the same. */
export interface LineHead extends QueuedRun {
  signature: string;
  wants: string;
}

const RUN = `q.run_id, q.created_at::text AS created_at, extract(epoch FROM q.created_at)::float8 * 1000000 AS arrived, q.seq::float8 AS seq`;

/** Whether anything waits at all: one look into the index. */
export async function somethingIsQueued(database: Queryable): Promise<boolean> {
  const { rows } = await database.query(
    "/* queue.something-is-queued */ SELECT 1 FROM runs WHERE state = 'QUEUED' LIMIT 1",
  );
  return rows.length > 0;
}

/**
 * Of the queued runs that want one of these things, the oldest of each signature. A loose index scan: it jumps from one
 * signature to the next, so its cost is the number of signatures, however many runs there are.
 */
export async function readHeads(database: Queryable, things: string[]): Promise<LineHead[]> {
  const { rows } = await database.query<LineHead>(
    `/* queue.read-heads */
     SELECT head.* FROM unnest($1::text[]) AS thing (wants) CROSS JOIN LATERAL (
       WITH RECURSIVE line AS (
         (SELECT q.signature, q.created_at, q.seq, q.run_id FROM runs q
           WHERE q.state = 'QUEUED' AND q.wants = thing.wants
           ORDER BY q.signature, q.created_at, q.seq LIMIT 1)
         UNION ALL
         SELECT next.* FROM line CROSS JOIN LATERAL (
           SELECT q.signature, q.created_at, q.seq, q.run_id FROM runs q
            WHERE q.state = 'QUEUED' AND q.wants = thing.wants AND q.signature > line.signature
            ORDER BY q.signature, q.created_at, q.seq LIMIT 1) AS next)
       SELECT q.signature, thing.wants, ${RUN} FROM line q) AS head`,
    [things],
  );
  return rows;
}

/** Everything that queued runs want: the same kind of scan, over what is wanted. */
export async function readWanted(database: Queryable): Promise<string[]> {
  const { rows } = await database.query<{ wants: string }>(
    `/* queue.read-wanted */
     WITH RECURSIVE thing AS (
       (SELECT wants FROM runs WHERE state = 'QUEUED' ORDER BY wants LIMIT 1)
       UNION ALL
       SELECT next.* FROM thing CROSS JOIN LATERAL (
         SELECT q.wants FROM runs q WHERE q.state = 'QUEUED' AND q.wants > thing.wants ORDER BY q.wants LIMIT 1) AS next)
     SELECT wants FROM thing`,
  );
  return rows.map((row) => row.wants);
}

/** The runs of one line behind a place, oldest first. */
export async function readRest(
  database: Queryable,
  line: { signature: string; wants: string },
  after: QueuedRun,
  limit: number,
): Promise<QueuedRun[]> {
  const { rows } = await database.query<QueuedRun>(
    `/* queue.read-rest */
     SELECT ${RUN} FROM runs q
      WHERE q.state = 'QUEUED' AND q.wants = $1 AND q.signature = $2 AND (q.created_at, q.seq) > ($3::timestamptz, $4::bigint)
      ORDER BY q.created_at, q.seq LIMIT $5`,
    [line.wants, line.signature, after.created_at, after.seq, limit],
  );
  return rows;
}

/** What these queued runs need. */
export async function readNeeds(
  database: Queryable,
  runIds: string[],
): Promise<{ signature: string; requires: Requirement[]; spread: boolean }[]> {
  const { rows } = await database.query<{ signature: string; requires: Requirement[]; spread: boolean }>(
    '/* queue.read-needs */ SELECT signature, requires, spread FROM runs WHERE run_id = ANY ($1::text[])',
    [runIds],
  );
  return rows;
}
