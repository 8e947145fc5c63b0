interface OfAttempt {
  seq: number;
  attempt: number;
  name: string;
}

/** Where an output lies within its record. */
export function blobPath({ seq, attempt, name }: OfAttempt): string {
  return `blobs/${seq}.${attempt}-${inPath(name)}`;
}

/** Where a log lies within its record. */
export function logPath({ seq, attempt, name }: OfAttempt): string {
  return `logs/${seq}.${attempt}-${inPath(name)}.log`;
}

/** By their bytes, as `LC_ALL=C sort` has them. */
export function inByteOrder(paths: string[]): string[] {
  return paths.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
}

/** Names are harmless where they are taken in; whatever one may hold, it stays one part of a path, and its own. */
function inPath(name: string): string {
  return name.replace(/[^A-Za-z0-9._-]/gu, encodeURIComponent);
}
