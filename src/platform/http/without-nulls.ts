/** A field that is null counts as absent: in the body and in the objects of its lists, not in maps of the caller's own keys. */
export function withoutNulls(body: unknown): unknown {
  if (!isObject(body)) return body;
  const fields = Object.entries(body).filter(([, value]) => value !== null);
  return Object.fromEntries(fields.map(([name, value]) => [name, Array.isArray(value) ? value.map(pruned) : value]));
}

function pruned(entry: unknown): unknown {
  return isObject(entry) ? Object.fromEntries(Object.entries(entry).filter(([, value]) => value !== null)) : entry;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
