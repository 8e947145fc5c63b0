import type { Queryable } from '../platform/database/queryable.js';
import { inPieces } from './bodies/in-pieces.js';
import { readBlobBytes } from './bodies/read-blob-bytes.sql.js';
import { readLogBytes } from './bodies/read-log-bytes.sql.js';
import type { Bodies } from './read-bodies.sql.js';
import { blobPath, logPath } from './record-paths.js';
import { TAR_END, type TarEntry, tarHeader, tarPadding } from './tar-entry.js';

export interface SealedRecord extends Bodies {
  run_id: string;
  closed_at: Date;
  files: Record<string, string>;
  sums: string;
}

interface PackedFile {
  size: number;
  bytes(): AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
}

/** A tar whose length is known before its first byte is read. */
export interface PackedRecord {
  length: number;
  bytes(): AsyncGenerator<Uint8Array, void>;
}

/**
 * The record as one tar, the same bytes each time: the files that SHA256SUMS lists in that order, and it at the end; one
 * time, one owner, one mode. Bodies are read as the tar is. Undefined: a file that is listed is gone, so it was purged.
 */
export function packRecord(database: Queryable, record: SealedRecord): PackedRecord | undefined {
  const files = filesOf(database, record);
  const paths = [...record.sums.matchAll(/^[0-9a-f]{64} {2}(.+)$/gm)].map(([, path]) => path!);
  if (!paths.every((path) => files.has(path))) return undefined;
  files.set('SHA256SUMS', inMemory(record.sums));

  const top = `run-${record.run_id}/`;
  const mtime = Math.floor(record.closed_at.getTime() / 1000);
  const folder = tarHeader({ path: top, size: 0, mtime });
  const entries = [...paths, 'SHA256SUMS'].map((path) => {
    const file = files.get(path)!;
    return { ...file, path: top + path, mtime };
  });
  return {
    length: folder.length + entries.reduce((sum, entry) => sum + lengthOf(entry), 0) + TAR_END.length,
    async *bytes() {
      yield folder;
      for (const entry of entries) {
        yield tarHeader(entry);
        yield* entry.bytes();
        yield tarPadding(entry.size);
      }
      yield TAR_END;
    },
  };
}

function lengthOf(entry: TarEntry): number {
  return tarHeader(entry).length + entry.size + tarPadding(entry.size).length;
}

/** The files of a record but SHA256SUMS, by path. */
function filesOf(database: Queryable, { run_id, files, blobs, logs }: SealedRecord): Map<string, PackedFile> {
  const packed = new Map<string, PackedFile>();
  for (const [path, text] of Object.entries(files)) packed.set(path, inMemory(text));
  for (const blob of blobs) {
    const bytes = (): AsyncIterable<Uint8Array> =>
      inPieces(0, blob.size, (from, to) => readBlobBytes(database, blob.upload_id, from, to));
    packed.set(blobPath(blob), { size: blob.size, bytes });
  }
  for (const log of logs) {
    const bytes = (): AsyncIterable<Uint8Array> =>
      inPieces(0, log.size, (from, to) => readLogBytes(database, { run_id, ...log }, from, to));
    packed.set(logPath(log), { size: log.size, bytes });
  }
  return packed;
}

function inMemory(text: string): PackedFile {
  return { size: Buffer.byteLength(text), bytes: () => [Buffer.from(text)] };
}
