/** What the version of a run is made of. */
export interface Versioned {
  version: string;
  digest: string | null;
  purged: boolean;
}

/**
 * The version of a run as it is shown: one higher once its record is SEALED and one more once that is PURGED, neither of
 * which changes the run itself, so that whoever waits for a change, or has kept the run, learns of both.
 */
export function shownVersion({ version, digest, purged }: Versioned): number {
  return Number(version) + (digest === null ? 0 : 1) + (purged ? 1 : 0);
}
