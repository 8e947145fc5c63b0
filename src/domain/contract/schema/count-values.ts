/** The members and elements of a JSON value, at every level; the value itself is none of them. */
export function countValues(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  return Object.values(value).reduce<number>((count, inner) => count + 1 + countValues(inner), 0);
}
