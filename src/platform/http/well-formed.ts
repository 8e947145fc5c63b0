import { isWellFormed } from '../../domain/json/json-text.js';

/** The name of one that holds text with NUL or half a surrogate pair, of the parts of a path, a query or headers. */
export function illFormed(part: object): string | undefined {
  for (const [name, value] of Object.entries(part)) {
    const texts: unknown[] = Array.isArray(value) ? value : [value];
    if (!isWellFormed(name)) return '';
    if (texts.some((text) => typeof text === 'string' && !isWellFormed(text))) return name;
  }
  return undefined;
}
