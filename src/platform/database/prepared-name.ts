import { createHash } from 'node:crypto';

const names = new Map<string, string | undefined>();

/**
 * The name under which a connection keeps a statement prepared: the one its text begins with, and a digest of the text.
 * Undefined for one without a name, which is not kept. Texts are constants of the program: there are some hundred.
 */
export function preparedName(sql: string): string | undefined {
  if (!names.has(sql)) names.set(sql, nameOf(sql));
  return names.get(sql);
}

function nameOf(sql: string): string | undefined {
  const name = /^\/\* (\S+) \*\//.exec(sql)?.[1];
  // PostgreSQL tells names apart by their first 63 bytes.
  return name && `${name.slice(0, 48)}#${createHash('sha256').update(sql).digest('hex').slice(0, 12)}`;
}
