import { RUN_ID } from '../domain/contract/names.js';
import { fromCursor, toCursor } from '../platform/http/cursor.js';
import { Problem } from '../platform/http/problem.js';

/** A place in the inbox: several questions may have been asked in the same microsecond. */
export interface InboxPlace {
  /** With the microseconds of the database. */
  asked_at: string;
  run_id: string;
  seq: number;
}

/** The opaque form that a caller hands back. */
export function toInboxCursor({ asked_at, run_id, seq }: InboxPlace): string {
  return `${toCursor({ created_at: asked_at, seq: String(seq) })}.${Buffer.from(run_id).toString('base64url')}`;
}

/** Throws invalid_request where this server did not make the cursor. */
export function fromInboxCursor(cursor: string | undefined): InboxPlace | undefined {
  if (cursor === undefined) return undefined;
  const [keyset, run = ''] = cursor.split('.', 2);
  const { created_at, seq } = fromCursor(keyset)!;
  const run_id = Buffer.from(run, 'base64url').toString();
  if (!RUN_ID.accepts(run_id) || Number(seq) > 2 ** 31 - 1) {
    throw new Problem('invalid_request', 'cursor must be the `next` of an earlier page');
  }
  return { asked_at: created_at, run_id, seq: Number(seq) };
}
