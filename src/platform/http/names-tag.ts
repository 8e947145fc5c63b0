/** Whether If-None-Match names this strong entity tag (RFC 9110, 13.1.2): compared weakly, `*` names any. */
export function namesTag(ifNoneMatch: string | undefined, tag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  if (ifNoneMatch.trim() === '*') return true;
  const named = ifNoneMatch.match(/(?:W\/)?"[^"]*"/g) ?? [];
  return named.some((one) => one.replace(/^W\//, '') === tag);
}
