export interface DispatchSource {
  out: string;
  fields: string[];
}

/**
 * Splits `<out>[.<field>…]`. Names of outputs may contain dots themselves: the longest that fits is meant. Undefined where none of
 * the outputs fits, or a field is empty.
 */
export function dispatchSource(from: string, outs: Iterable<string>): DispatchSource | undefined {
  let longest: string | undefined;
  for (const out of outs) {
    const fits = from === out || (from.startsWith(out) && from[out.length] === '.');
    if (fits && out.length > (longest?.length ?? -1)) longest = out;
  }
  if (longest === undefined) return undefined;
  const fields = from === longest ? [] : from.slice(longest.length + 1).split('.');
  return fields.includes('') ? undefined : { out: longest, fields };
}

/** What stands in the value at the end of these fields; undefined where they lead nowhere. */
export function valueAlong(fields: readonly string[], value: unknown): unknown {
  let at = value;
  for (const field of fields) {
    const has = typeof at === 'object' && at !== null && Object.hasOwn(at, field);
    at = has ? (at as Record<string, unknown>)[field] : undefined;
  }
  return at;
}
