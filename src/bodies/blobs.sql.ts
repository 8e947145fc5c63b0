import { type Read, read } from '../platform/database/statement.js';
import { RIGHTFUL } from './outputs.sql.js';

export interface FoundBlob {
  upload_id: string;
  media_type: string;
  size: number;
  sha256: string;
}

/** The newest published upload of that exact name in the run; where a step promises it, of such a step. */
export function findBlob(runId: string, name: string): Read<FoundBlob | undefined> {
  return read({
    name: 'bodies.find-blob',
    text: `
     SELECT upload_id, media_type, size::float8 AS size, sha256 FROM blobs b
      WHERE run_id = $1 AND name = $2 AND published_at IS NOT NULL AND ${RIGHTFUL} ORDER BY upload_id DESC LIMIT 1`,
    params: [runId, name],
    as: (rows: FoundBlob[]) => rows[0],
  });
}

/** Whether that very upload is still there. */
export function blobExists(uploadId: string): Read<boolean> {
  return read({
    name: 'bodies.blob-exists',
    text: `
     SELECT FROM blobs WHERE upload_id = $1`,
    params: [uploadId],
    as: (rows: unknown[]) => rows.length > 0,
  });
}

/** Whether the run holds this node now. Undefined: there is no such run. */
export function isHeldBy(runId: string, nodeId: string): Read<boolean | undefined> {
  return read({
    name: 'bodies.is-held-by',
    text: `
     SELECT EXISTS (SELECT FROM leases l WHERE l.run_id = r.run_id AND l.node_id = $2) AS held
       FROM runs r WHERE r.run_id = $1`,
    params: [runId, nodeId],
    as: (rows: { held: boolean }[]) => rows[0]?.held,
  });
}
