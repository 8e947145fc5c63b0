import { ftruncateSync, readFileSync, writeSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Location } from './choose-location.js';
import { EmbeddedInUseError } from './embedded-error.js';
import { openLocked } from './open-locked.js';

/**
 * The Mediator's own claim to a home, held by this process alone and given up by closing the descriptor. Nothing in the
 * home is touched before it is taken. The pid in the file is for the message only, never for a decision.
 */
export async function takeOwnerLock({ home, user }: Location): Promise<number> {
  const path = join(home, 'owner.lock');
  const fd = openLocked(path, user);
  if (fd === undefined) throw await inUse(home, path);
  ftruncateSync(fd);
  writeSync(fd, `${process.pid} ${hostname()}\n`, 0);
  return fd;
}

async function inUse(home: string, path: string): Promise<EmbeddedInUseError> {
  let pid: number | undefined;
  let host: string | undefined;
  // The holder writes its pid just after it has locked: until then the file is empty or names its predecessor, which may
  // have been on another machine. So only a live process of this one is believed at once.
  for (let round = 0; round < 100; round++) {
    const [first, second] = readFileSync(path, 'utf8').trim().split(' ');
    pid = Number(first) || undefined;
    host = second;
    if (pid !== undefined && host === hostname() && isAlive(pid)) break;
    await pause(10);
  }
  const where = host === undefined || host === hostname() ? '' : ` on ${host}`;
  return new EmbeddedInUseError(home, pid, `another Mediator${where}`);
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
