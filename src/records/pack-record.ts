import type { Queryable } from '../platform/database/queryable.js';
import { inPieces } from './in-pieces.js';
import { readBlobBytes, readLogBytes, type Bodies } from './record-bodies.sql.js';
import { blobPath, logPath } from './render-record.js';

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
      inPieces(0, blob.size, (from, to) => database.ask(readBlobBytes(blob.upload_id, from, to)));
    packed.set(blobPath(blob), { size: blob.size, bytes });
  }
  for (const log of logs) {
    const bytes = (): AsyncIterable<Uint8Array> =>
      inPieces(0, log.size, (from, to) => database.ask(readLogBytes({ run_id, ...log }, from, to)));
    packed.set(logPath(log), { size: log.size, bytes });
  }
  return packed;
}

function inMemory(text: string): PackedFile {
  return { size: Buffer.byteLength(text), bytes: () => [Buffer.from(text)] };
}

/*
 * The entries of a tar, as POSIX has them (ustar, and pax where a path or a size does not fit). Written out, so that the
 * length of the whole is known before its first byte, and no update of a package changes the bytes of a sealed record.
 */

const BLOCK = 512;
const NAME_BYTES = 100;
const SIZE_LIMIT = 8 ** 11;

export interface TarEntry {
  path: string;
  size: number;
  /** Seconds since 1970. */
  mtime: number;
}

/** Two blocks of zeros end a tar. */
export const TAR_END = Buffer.alloc(2 * BLOCK);

/** What stands before the bytes of a file, or for a folder, whose path ends in a slash. */
export function tarHeader({ path, size, mtime }: TarEntry): Buffer {
  const name = Buffer.from(path);
  const type = path.endsWith('/') ? '5' : '0';
  if (name.length <= NAME_BYTES && size < SIZE_LIMIT) return block(name, size, mtime, type);
  const records = Buffer.concat([record('path', path), record('size', String(size))]);
  return Buffer.concat([
    block(Buffer.from('PaxHeader'), records.length, mtime, 'x'),
    records,
    tarPadding(records.length),
    block(name.subarray(0, NAME_BYTES), size % SIZE_LIMIT, mtime, type),
  ]);
}

/** What fills the last block after so many bytes. */
export function tarPadding(size: number): Buffer {
  return Buffer.alloc(-size & (BLOCK - 1));
}

/** One line of a pax header, which begins with its own length in bytes. */
function record(key: string, value: string): Buffer {
  const rest = Buffer.from(` ${key}=${value}\n`);
  let length = rest.length;
  while (length !== rest.length + String(length).length) length = rest.length + String(length).length;
  return Buffer.concat([Buffer.from(String(length)), rest]);
}

function block(name: Buffer, size: number, mtime: number, type: string): Buffer {
  const header = Buffer.alloc(BLOCK);
  name.copy(header);
  const octal = (value: number, at: number, digits: number): number =>
    header.write(`${value.toString(8).padStart(digits, '0')}\0`, at, 'latin1');
  octal(type === '5' ? 0o755 : 0o644, 100, 7);
  octal(0, 108, 7);
  octal(0, 116, 7);
  octal(size, 124, 11);
  octal(mtime, 136, 11);
  header.write(`        ${type}`, 148, 'latin1');
  header.write('ustar\x0000', 257, 'latin1');
  octal(0, 329, 7);
  octal(0, 337, 7);
  const checksum = header.reduce((sum, byte) => sum + byte, 0);
  header.write(`${checksum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
  return header;
}
