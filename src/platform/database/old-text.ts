import { createHash } from 'node:crypto';
import type { Param } from '../sessions/query.js';
import type { OldResult } from './queryable.js';
import type { Read } from './statement.js';

const names = new Map<string, string | undefined>();

/** A statement that is given as its text: goes when the last of them is a value. */
export function oldText<Row>(text: string, params?: Param[]): Read<OldResult<Row>> {
  if (!names.has(text)) {
    const name = /^\/\* (\S+) \*\//.exec(text)?.[1];
    names.set(text, name && `${name.slice(0, 48)}#${createHash('sha256').update(text).digest('hex').slice(0, 12)}`);
  }
  const preparedAs = names.get(text);
  return {
    writes: false,
    queries: [{ text, preparedAs, params }],
    answer: ([result]) => ({ rows: result!.rows as Row[], affected: result!.touched }),
  };
}
