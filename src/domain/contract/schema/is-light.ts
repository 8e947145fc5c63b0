const MOST_VALUES = 64;
const LONGEST_PATTERNS = 64;

/**
 * Whether a schema, or several, are known at a glance to be compiled in some milliseconds: they have few parts, and their patterns
 * are short and repeat nothing a given number of times.
 */
export function isLight(schema: unknown): boolean {
  const open: unknown[] = [schema];
  let values = 0;
  let patterns = 0;
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    if (typeof at !== 'object' || at === null) continue;
    const keys = Object.keys(at);
    values += keys.length;
    if (values > MOST_VALUES) return false;
    for (const key of keys) {
      const value = (at as Record<string, unknown>)[key];
      for (const text of patternsOf(key, value)) {
        if (text.includes('{')) return false;
        patterns += text.length;
      }
      open.push(value);
    }
    if (patterns > LONGEST_PATTERNS) return false;
  }
  return true;
}

function patternsOf(key: string, value: unknown): string[] {
  if (key === 'pattern' && typeof value === 'string') return [value];
  if (key !== 'patternProperties' || typeof value !== 'object' || value === null) return [];
  return Object.keys(value);
}
