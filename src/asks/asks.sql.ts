import { RIGHTFUL } from '../bodies/outputs.sql.js';
import type { RunState } from '../domain/states.js';
import { type Read, read } from '../platform/database/statement.js';
import { PAGE_BYTES } from '../platform/http/fill-page.js';

/** A place in the inbox: several questions may have been asked in the same microsecond. */
export interface InboxPlace {
  /** With the microseconds of the database. */
  asked_at: string;
  run_id: string;
  seq: number;
}

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
export function readQuestion(runId: string, seq: number): Read<Question | undefined> {
  return read({
    name: 'asks.read-question',
    text: `
     SELECT r.state AS run_state, s.id, a.state, a.attempt, a.output, a.schema, a.answerers, a.answered_by
       FROM runs r
       LEFT JOIN steps s ON s.run_id = r.run_id AND s.seq = $2
       LEFT JOIN LATERAL (
         SELECT * FROM asks WHERE run_id = s.run_id AND seq = s.seq ORDER BY attempt DESC LIMIT 1) AS a ON true
      WHERE r.run_id = $1`,
    params: [runId, seq],
    as: (rows: Question[]) => rows[0],
  });
}

export interface ShownUpload {
  name: string;
  media_type: string;
  size: number;
  upload_id: string;
}

export interface OpenAsk {
  run_id: string;
  seq: number;
  id: string;
  prompt: string;
  /** JSON, as it was sent. */
  schema: string;
  answerers: string[] | null;
  asked_at: Date;
  deadline: Date | null;
  shown: ShownUpload[];
  place: InboxPlace;
  /** About how large it is, but for what it shows. */
  bytes: number;
}

/** The next question `a`, by when it was asked, and about how large it is without what it shows. */
const NEXT = `
  a.run_id, a.seq, a.attempt, a.asked_at,
         octet_length(a.prompt) + octet_length(a.schema::text) + coalesce(octet_length(array_to_string(a.answerers, ',')), 0)
           AS bytes
    FROM asks a JOIN runs r USING (run_id)
   WHERE a.state = 'OPEN' AND r.state = 'RUNNING'`;

/**
 * The open questions of runs under way after the given place, the oldest first, each with the newest uploads it shows: at
 * most so many, and no more than fill the bytes; `more`: there are others behind them.
 */
export function readInbox(limit: number, after: InboxPlace | undefined): Read<{ rows: OpenAsk[]; more: boolean }> {
  return read({
    name: 'asks.read-inbox',
    text: `
     WITH RECURSIVE page AS (
       (SELECT first.*, 1 AS n, 0 AS before
          FROM (SELECT ${NEXT}
                   AND (a.asked_at, a.run_id, a.seq)
                       > (coalesce($2::timestamptz, '-infinity'), coalesce($3, ''), coalesce($4::int, 0))
                 ORDER BY a.asked_at, a.run_id, a.seq LIMIT 1) AS first)
        UNION ALL
       SELECT next.*, page.n + 1, page.before + page.bytes
         FROM page CROSS JOIN LATERAL (SELECT ${NEXT}
                   AND (a.asked_at, a.run_id, a.seq) > (page.asked_at, page.run_id, page.seq)
                 ORDER BY a.asked_at, a.run_id, a.seq LIMIT 1) AS next
        WHERE page.n <= $1 AND page.before < $5)
     SELECT a.run_id, a.seq, s.id, a.prompt, a.schema::text AS schema, a.answerers, a.asked_at, a.deadline, page.bytes,
            (SELECT max(n) FROM page) AS reached,
            json_build_object('asked_at', a.asked_at::text, 'run_id', a.run_id, 'seq', a.seq) AS place,
            coalesce((
              SELECT json_agg(json_build_object('name', b.name, 'media_type', b.media_type, 'size', b.size,
                                                'upload_id', b.upload_id::text) ORDER BY shown.place)
                FROM unnest(a.show[1:100]) WITH ORDINALITY AS shown (name, place)
               CROSS JOIN LATERAL (
                 SELECT * FROM blobs b
                  WHERE run_id = a.run_id AND name = shown.name AND published_at IS NOT NULL AND ${RIGHTFUL}
                  ORDER BY upload_id DESC LIMIT 1) AS b), '[]') AS shown
       FROM page JOIN asks a USING (run_id, seq, attempt) JOIN steps s USING (run_id, seq)
      WHERE page.n <= $1 AND page.before < $5 ORDER BY page.n`,
    params: [limit, after?.asked_at ?? null, after?.run_id ?? null, after?.seq ?? null, PAGE_BYTES],
    as: (rows: (OpenAsk & { reached: number })[]) => ({
      rows,
      more: rows.length > 0 && rows[0]!.reached > rows.length,
    }),
  });
}

/** The first bytes of these uploads, by upload; an empty one has none. */
export function readHeads(uploadIds: string[], bytes: number): Read<Map<string, Buffer>> {
  return read({
    name: 'asks.read-heads',
    text: `
     SELECT upload_id, string_agg(substring(bytes FROM 1 FOR ($2 - at)::int), ''::bytea ORDER BY at) AS head
       FROM blob_chunks WHERE upload_id = ANY ($1::bigint[]) AND at < $2::bigint GROUP BY upload_id`,
    params: [uploadIds, bytes],
    as: (rows: { upload_id: string; head: Buffer }[]) => new Map(rows.map((row) => [row.upload_id, row.head])),
  });
}
