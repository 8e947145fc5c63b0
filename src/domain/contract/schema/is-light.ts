import { MOST_STEPS } from '../contract.js';

/** The members and elements of a JSON value, at every level; the value itself is none of them. */
export function countValues(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  return Object.values(value).reduce<number>((count, inner) => count + 1 + countValues(inner), 0);
}

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

/**
 * Whether what was sent as a contract is known at a glance to be judged in some milliseconds: its schemas, all together, are light,
 * and no default is held against one.
 */
export function isLightContract(sent: unknown): boolean {
  const steps = memberOf(sent, 'steps');
  // More steps than a contract may have are not looked at.
  if (!Array.isArray(steps)) return true;
  const seen = steps.slice(0, MOST_STEPS);
  if (seen.some((step) => memberOf(memberOf(step, 'ask'), 'default') !== undefined)) return false;
  return isLight(seen.map((step) => memberOf(step, 'schema')).filter((schema) => schema !== undefined));
}

function memberOf(value: unknown, key: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
  return (value as Record<string, unknown>)[key];
}
