import { isLight } from './schema/is-light.js';

const MOST_STEPS = 500;

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
