const MOST_SECONDS = 60;

/**
 * The seconds of `Prefer: wait=N` (RFC 7240), at most 60. Undefined where the caller does not want to wait. A preference
 * that cannot be read is ignored, as that RFC has it.
 */
export function preferredWait(prefer: string | string[] | undefined): number | undefined {
  for (const preference of [prefer ?? []].flat().join(',').split(',')) {
    const [, seconds] = /^\s*wait\s*=\s*"?(\d+)"?\s*(?:;|$)/i.exec(preference) ?? [];
    // The first of several counts.
    if (seconds !== undefined) return Math.min(Number(seconds), MOST_SECONDS);
  }
  return undefined;
}
