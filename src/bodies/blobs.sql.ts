import type { Queryable } from '../platform/database/queryable.js';
import { RIGHTFUL } from './outputs.sql.js';

export interface FoundBlob {
  upload_id: string;
  media_type: string;
  size: number;
  sha256: string;
}

/** The newest published upload of that exact name in the run; where a step promises it, of such a step. */
export async function findBlob(database: Queryable, runId: string, name: string): Promise<FoundBlob | undefined> {
  const { rows } = await database.query<FoundBlob>(
    `/* bodies.find-blob */
     SELECT upload_id, media_type, size::float8 AS size, sha256 FROM blobs b
      WHERE run_id = $1 AND name = $2 AND published_at IS NOT NULL AND ${RIGHTFUL} ORDER BY upload_id DESC LIMIT 1`,
    [runId, name],
  );
  return rows[0];
}

/** Whether that very upload is still there. */
export async function blobExists(database: Queryable, uploadId: string): Promise<boolean> {
  const { rows } = await database.query(
    `/* bodies.blob-exists */
     SELECT FROM blobs WHERE upload_id = $1`,
    [uploadId],
  );
  return rows.length > 0;
}

/** Whether the run holds this node now. Undefined: there is no such run. */
export async function isHeldBy(database: Queryable, runId: string, nodeId: string): Promise<boolean | undefined> {
  const { rows } = await database.query<{ held: boolean }>(
    `/* bodies.is-held-by */
     SELECT EXISTS (SELECT FROM leases l WHERE l.run_id = r.run_id AND l.node_id = $2) AS held
       FROM runs r WHERE r.run_id = $1`,
    [runId, nodeId],
  );
  return rows[0]?.held;
}
