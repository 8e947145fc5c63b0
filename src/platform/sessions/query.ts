import { createHash } from 'node:crypto';

/**
 * What can be given to a query. JSON is given as text: to write it here could fail, and a query that is not sent at all keeps
 * no COMMIT from happening.
 */
export type Param = string | number | boolean | Date | Buffer | null | undefined | readonly Param[];

/** One query as it is sent. */
export interface Query {
  readonly text: string;
  /** The name under which a connection keeps it prepared. */
  readonly preparedAs?: string;
  readonly params?: readonly Param[];
}

/** What a query gave: its rows, and how many rows it touched. */
export interface Result {
  readonly rows: unknown[];
  readonly touched: number;
  /** What the database says it has carried out: COMMIT, ROLLBACK, SELECT. */
  readonly command: string;
}

const prepared = new Map<string, { text: string; preparedAs: string }>();

/** Composed once for each name and what it is given: there are some hundred. */
export function prepare(name: string, given: string, compose: () => string): { text: string; preparedAs: string } {
  const key = `${name} ${given}`;
  let query = prepared.get(key);
  if (query === undefined) {
    const text = `/* ${name} */ ${compose()}`;
    // PostgreSQL tells names apart by their first 63 bytes.
    const digest = createHash('sha256').update(text).digest('hex').slice(0, 12);
    query = { text, preparedAs: `${name.slice(0, 48)}#${digest}` };
    prepared.set(key, query);
  }
  return query;
}
