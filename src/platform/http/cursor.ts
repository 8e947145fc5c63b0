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

const CURSOR = /^((?!0000)\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d{1,6})?\+00)\|(\d{1,18})$/;

/** Throws invalid_request where this server did not make the cursor. */
export function fromCursor(cursor: string | undefined): Keyset | undefined {
  if (cursor === undefined) return undefined;
  const [, created_at, seq] = CURSOR.exec(Buffer.from(cursor, 'base64url').toString()) ?? [];
  if (created_at === undefined || seq === undefined || !isTime(created_at)) {
    throw new Problem('invalid_request', 'cursor must be the `next` of an earlier page');
  }
  return { created_at, seq };
}

/** PostgreSQL's way of writing a time in UTC; February 30 is none, though JavaScript would read March 2. */
function isTime(text: string): boolean {
  const date = new Date(text.replace(' ', 'T').replace(/\+00$/, 'Z'));
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text.slice(0, 10));
}

/** What the document says of the Link header of a page. */
export const NEXT_PAGE = 'Where there is a next page: `<path>; rel="next"` (RFC 8288).';

/** The Link header (RFC 8288) that leads to the next page: the same query with its cursor. */
export function nextLink(url: string, cursor: string): string {
  const [path = '', query = ''] = url.split('?', 2);
  const params = new URLSearchParams(query);
  params.set('cursor', cursor);
  return `<${path}?${params.toString()}>; rel="next"`;
}
