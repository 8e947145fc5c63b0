import type { Param } from '../../src/platform/sessions/query.js';
import type { Read, Statement } from '../../src/platform/database/statement.js';

/** Any SQL as a statement, with its rows: for what no statement of the program does. */
export function raw(text: string, params: Param[] = []): Read<Record<string, unknown>[]> {
  return {
    writes: false,
    queries: [{ text, params }],
    answer: ([result]) => result!.rows as Record<string, unknown>[],
  };
}

/** The name that the text of a statement begins with. */
export function nameOf({ queries }: Statement<unknown>): string {
  return /^\/\* (\S+) \*\//.exec(queries[0]!.text)?.[1] ?? '';
}
