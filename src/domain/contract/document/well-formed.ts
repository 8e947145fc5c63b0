/** PostgreSQL stores neither NUL nor half a surrogate pair, and RFC 8785 cannot hash the latter. */
export function isWellFormed(text: string): boolean {
  return !text.includes('\0') && !/\p{Surrogate}/u.test(text);
}
