import { Problem } from './problem.js';

/** A place in a list that is ordered by creation: it stays right while rows come and go. */
export interface Keyset {
  /** With the microseconds of the database, which a JavaScript date has not. */
  created_at: string;
  seq: string;
}

/** The opaque form that a caller hands back. */
export function toCursor({ created_at, seq }: Keyset): string {
  return Buffer.from(`${created_at}|${seq}`).toString('base64url');
}

const CURSOR = /^(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d{1,6})?\+00)\|(\d{1,18})$/;

/** Throws invalid_request where this server did not make the cursor. */
export function fromCursor(cursor: string | undefined): Keyset | undefined {
  if (cursor === undefined) return undefined;
  const [, created_at, seq] = CURSOR.exec(Buffer.from(cursor, 'base64url').toString()) ?? [];
  if (created_at === undefined || seq === undefined || Number.isNaN(Date.parse(created_at.replace(' ', 'T')))) {
    throw new Problem('invalid_request', 'cursor must be the `next` of an earlier page');
  }
  return { created_at, seq };
}
