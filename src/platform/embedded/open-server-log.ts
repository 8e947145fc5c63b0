import { closeSync, constants, fchownSync, fstatSync, ftruncateSync, readSync } from 'node:fs';
import { join } from 'node:path';
import type { Location } from './choose-location.js';
import { openOwn } from './open-own.js';

export interface ServerLog {
  path: string;
  /** What the server's stdout and stderr become; closed by `close`. */
  fd: number;
  /** The last lines written since this start. */
  tail(): string;
  close(): void;
}

const TRUNCATE_ABOVE_BYTES = 10 * 1024 * 1024;
const TAIL_BYTES = 4096;
const TAIL_LINES = 15;

export function openServerLog({ home, user }: Location): ServerLog {
  const path = join(home, 'postgres.log');
  const fd = openOwn(path, user, { flags: constants.O_RDWR | constants.O_APPEND, mode: 0o600 });
  if (user) fchownSync(fd, user.uid, user.gid);
  if (fstatSync(fd).size > TRUNCATE_ABOVE_BYTES) ftruncateSync(fd);
  const start = fstatSync(fd).size;

  const tail = () => {
    const { size } = fstatSync(fd);
    const from = Math.max(start, size - TAIL_BYTES);
    const buffer = Buffer.alloc(Math.max(0, size - from));
    readSync(fd, buffer, 0, buffer.length, from);
    return buffer.toString('utf8').trimEnd().split('\n').slice(-TAIL_LINES).join('\n');
  };
  return { path, fd, tail, close: () => closeSync(fd) };
}
