import { Readable } from 'node:stream';
import { pack } from 'tar-stream';

export interface SealedRecord {
  run_id: string;
  closed_at: Date;
  files: Record<string, string>;
  sums: string;
}

/** The record as one tar, the same bytes each time: paths in their order, one time, one owner, one mode. */
export function packRecord({ run_id, closed_at, files, sums }: SealedRecord): Readable {
  const tar = pack();
  const top = `run-${run_id}`;
  const common = { mtime: new Date(Math.floor(closed_at.getTime() / 1000) * 1000), uid: 0, gid: 0 };
  tar.entry({ ...common, name: `${top}/`, type: 'directory', mode: 0o755 });
  for (const [path, text] of Object.entries(files).sort(byPath)) {
    tar.entry({ ...common, name: `${top}/${path}`, mode: 0o644 }, text);
  }
  tar.entry({ ...common, name: `${top}/SHA256SUMS`, mode: 0o644 }, sums);
  tar.finalize();
  return Readable.from(tar);
}

function byPath([a]: [string, string], [b]: [string, string]): number {
  return a < b ? -1 : 1;
}
