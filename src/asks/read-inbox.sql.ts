import type { Queryable } from '../platform/database/queryable.js';
import { RIGHTFUL } from '../records/promises.sql.js';
import type { InboxPlace } from './inbox-cursor.js';

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
}

/** The open questions of runs under way after the given place, the oldest first, each with the newest uploads it shows. */
export async function readInbox(database: Queryable, limit: number, after: InboxPlace | undefined): Promise<OpenAsk[]> {
  const { rows } = await database.query<OpenAsk>(
    `/* asks.read-inbox */
     SELECT a.run_id, a.seq, s.id, a.prompt, a.schema::text AS schema, a.answerers, a.asked_at, a.deadline,
            json_build_object('asked_at', a.asked_at::text, 'run_id', a.run_id, 'seq', a.seq) AS place,
            coalesce((
              SELECT json_agg(json_build_object('name', b.name, 'media_type', b.media_type, 'size', b.size,
                                                'upload_id', b.upload_id::text) ORDER BY shown.place)
                FROM unnest(a.show[1:100]) WITH ORDINALITY AS shown (name, place)
               CROSS JOIN LATERAL (
                 SELECT * FROM blobs b
                  WHERE run_id = a.run_id AND name = shown.name AND published_at IS NOT NULL AND ${RIGHTFUL}
                  ORDER BY upload_id DESC LIMIT 1) AS b), '[]') AS shown
       FROM asks a JOIN steps s USING (run_id, seq) JOIN runs r USING (run_id)
      WHERE a.state = 'OPEN' AND r.state = 'RUNNING'
        AND (a.asked_at, a.run_id, a.seq) > (coalesce($2::timestamptz, '-infinity'), coalesce($3, ''), coalesce($4::int, 0))
      ORDER BY a.asked_at, a.run_id, a.seq LIMIT $1`,
    [limit, after?.asked_at ?? null, after?.run_id ?? null, after?.seq ?? null],
  );
  return rows;
}
