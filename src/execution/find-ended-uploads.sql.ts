import type { Queryable } from '../platform/database/queryable.js';
import type { Upload } from './fence-upload.js';

/** Of the uploads under way, by their place in the list: those that would not be taken any more, as their step stands. */
export async function findEndedUploads(database: Queryable, uploads: Upload[]): Promise<number[]> {
  const { rows } = await database.query<{ place: number }>(
    `/* execution.find-ended-uploads */
     SELECT (w.place - 1)::int AS place
       FROM unnest($1::text[], $2::int[], $3::int[], $4::text[]) WITH ORDINALITY AS w (run_id, seq, attempt, nonce, place)
      WHERE NOT EXISTS (
              SELECT FROM steps s
                JOIN runs r ON r.run_id = s.run_id AND r.state = 'RUNNING'
                JOIN leases l ON l.node_id = s.node_id AND l.run_id = s.run_id AND l.nonce = w.nonce
               WHERE s.run_id = w.run_id COLLATE "C" AND s.seq = w.seq AND s.state = 'CLAIMED'
                 AND s.attempt = coalesce(w.attempt, s.attempt))`,
    [
      uploads.map((one) => one.run_id),
      uploads.map((one) => one.seq),
      uploads.map((one) => one.attempt ?? null),
      uploads.map((one) => one.nonce),
    ],
  );
  return rows.map((row) => row.place);
}
