import { createHash } from 'node:crypto';
import { inOrder, type Read, read, type Statement, type Write, write } from '../platform/database/statement.js';
import { openRunBytes } from './run-bytes.sql.js';

/** Whether a step of a contract promises an output; each is an SQL expression. */
export const promises = (contract: string, seq: string, name: string): string =>
  `EXISTS (SELECT FROM json_array_elements_text(${contract}->'steps'->(${seq} - 1)->'out') AS own (name) WHERE own.name = ${name})`;

/** Whether any step of a contract does. */
export const someStepPromises = (contract: string, name: string): string =>
  `EXISTS (SELECT FROM json_array_elements(${contract}->'steps') AS step, json_array_elements_text(step->'out') AS any_one (name)
            WHERE any_one.name = ${name})`;

/**
 * Whether an upload `b` is what its name stands for: its step promises the name, or no step does. Others are not taken;
 * one from before that was so can be there, and only of those the contract is read.
 */
export const RIGHTFUL = `
  (b.promised IS NOT NULL
   OR (SELECT ${promises('r.contract', 'b.seq', 'b.name')} OR NOT ${someStepPromises('r.contract', 'b.name')}
         FROM runs r WHERE r.run_id = b.run_id))`;

/** The text of a published output of this attempt; undefined where none was uploaded, null where it is larger than that. */
export function readOutput(
  runId: string,
  seq: number,
  attempt: number,
  name: string,
  mostBytes: number,
): Read<string | null | undefined> {
  return read({
    name: 'bodies.read-output',
    text: `
     SELECT b.size > $5 AS large,
            CASE WHEN b.size <= $5 THEN
              (SELECT string_agg(bytes, ''::bytea ORDER BY at) FROM blob_chunks c WHERE c.upload_id = b.upload_id) END AS body
       FROM blobs b
      WHERE b.run_id = $1 AND b.seq = $2 AND b.attempt = $3 AND b.name = $4 AND b.published_at IS NOT NULL`,
    params: [runId, seq, attempt, name, mostBytes],
    as: (rows: { body: Buffer | null; large: boolean }[]) => {
      const [found] = rows;
      if (found === undefined) return undefined;
      return found.large ? null : (found.body?.toString('utf8') ?? '');
    },
  });
}

/** The names of what was uploaded in each step's current attempt, by step; or of one step. */
export function readUploaded(runId: string, seq: number | null = null): Read<Map<number, Set<string>>> {
  return read({
    name: 'bodies.read-uploaded',
    text: `
     SELECT b.seq, array_agg(b.name) AS names
       FROM blobs b JOIN steps s USING (run_id, seq, attempt)
      WHERE b.run_id = $1 AND ($2::int IS NULL OR b.seq = $2) AND b.published_at IS NOT NULL AND ${RIGHTFUL} GROUP BY b.seq`,
    params: [runId, seq],
    as: (rows: { seq: number; names: string[] }[]) => new Map(rows.map((row) => [row.seq, new Set(row.names)])),
  });
}

export interface SmallOutput {
  run_id: string;
  seq: number;
  attempt: number;
  name: string;
  media_type: string;
  body: Buffer;
}

/**
 * Stores an output that is small, at hand and promised by its step, published, within the transaction that makes it true
 * and has locked the run. It counts, and is not refused: what a person has said is not lost to what nodes have stored.
 */
export function storeOutput(output: SmallOutput): Statement<void> {
  return inOrder([openRunBytes(output.run_id), insertOutput(output)], () => undefined);
}

function insertOutput({ run_id, seq, attempt, name, media_type, body }: SmallOutput): Write<void> {
  const sha256 = createHash('sha256').update(body).digest('hex');
  return write({
    name: 'bodies.store-output',
    with: `
     counted AS (UPDATE run_bytes SET bytes = bytes + $6 WHERE run_id = $1),
     upload AS (
       INSERT INTO blobs (run_id, seq, attempt, name, media_type, promised, published_at, size, sha256)
       VALUES ($1, $2, $3, $4, $5, true, clock_timestamp(), $6, $7) RETURNING upload_id)`,
    text: 'INSERT INTO blob_chunks (upload_id, at, bytes) SELECT upload_id, 0, $8 FROM upload',
    params: [run_id, seq, attempt, name, media_type, body.length, sha256, body],
    otherwise: 'gone',
  });
}
