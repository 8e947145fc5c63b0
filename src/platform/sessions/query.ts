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

/** What a query was composed of, and the query. */
interface Prepared {
  given: readonly string[];
  query: { text: string; preparedAs: string };
}

const prepared = new Map<string, Prepared[]>();

/**
 * Composed once for each name and what is given of it: there are some hundred names, and a few queries of each. What is
 * given is a new string at each call, so it is compared: as a key it would be hashed each time.
 */
export function prepare(name: string, given: readonly string[], compose: () => string): Prepared['query'] {
  let known = prepared.get(name);
  if (known === undefined) prepared.set(name, (known = []));
  const found = known.find((one) => one.given.every((part, index) => part === given[index]));
  if (found !== undefined) return found.query;
  const text = `/* ${name} */ ${compose()}`;
  // PostgreSQL tells names apart by their first 63 bytes.
  const digest = createHash('sha256').update(text).digest('hex').slice(0, 12);
  const query = { text, preparedAs: `${name.slice(0, 48)}#${digest}` };
  known.push({ given, query });
  return query;
}
