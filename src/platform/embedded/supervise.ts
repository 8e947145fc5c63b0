import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import type { Socket } from 'node:net';
import { devNull } from 'node:os';
import type { ServerUser } from './server-user.js';

export interface Supervised {
  /** Ends the pipe, upon which the shell stops the command. */
  stop(): void;
  /** When the command is gone; says how it ended. */
  ended: Promise<{ ok: boolean; how: string }>;
  /** The command no longer keeps this process from ending; its end would stop the command anyway. */
  unref(): void;
  ref(): void;
}

export interface SupervisedCommand {
  command: string;
  args: string[];
  user: ServerUser | undefined;
  logFd: number;
  /** Inherited by the command and all its children. */
  lockFd: number;
  input?: string;
  /** An empty folder removed at the end, also when this process has died before. */
  removeFolder?: string;
}

/**
 * A shell between this process and the server, because a process that is killed with -9 cannot stop anybody. The shell
 * reads a pipe that only this process writes to; when this process is gone, in whatever way, the kernel ends the pipe.
 *
 * 0 the pipe, 3 the server lock, 4 the command's input, 5 the pipe once more, since 0 is taken from background jobs.
 * The signal is repeated: in the first milliseconds, before the server has set its handlers, SIGINT is ignored and lost.
 * USR1 ends the watcher while it reads and leaves it alone while it stops the server, so that no `sleep` outlives the shell.
 * The one who watches does not keep the lock, so that it is free the moment the server has ended.
 */
const SHELL = `
trap '' INT TERM HUP
folder=$1; shift
exec 5<&0
"$@" <&4 5<&- &
server=$!
(
  exec 3>&- 4<&-
  while read -r line; do :; done <&5
  trap '' USR1
  while kill -s INT "$server" 2>/dev/null; do sleep 0.05; done
) &
watcher=$!
wait "$server"
code=$?
{ kill -s USR1 "$watcher"; wait "$watcher"; } 2>/dev/null
[ -z "$folder" ] || rmdir "$folder" 2>/dev/null
exit "$code"
`;

export function supervise(what: SupervisedCommand): Supervised {
  const { command, args, user, logFd, lockFd, input, removeFolder = '' } = what;
  // Beyond the first three 'ignore' would leave the descriptor closed.
  const nothing = input === undefined ? openSync(devNull, 'r') : undefined;
  const child = spawn('/bin/sh', ['-c', SHELL, 'mediator-postgres', removeFolder, command, ...args], {
    // Only ids: node drops root's supplementary groups when it is given them.
    ...(user && { uid: user.uid, gid: user.gid }),
    // Its own session: Ctrl-C goes to the whole group of the terminal, and the database must go last, not first.
    detached: true,
    // The caller's folder may be out of the server's reach.
    cwd: '/',
    // None of the caller's PG* variables; UTC spares initdb the search for the system's time zone.
    env: { PATH: process.env.PATH, TZ: 'UTC', LC_ALL: 'C' },
    stdio: ['pipe', logFd, logFd, lockFd, nothing ?? 'pipe'],
  });
  if (nothing !== undefined) closeSync(nothing);
  const pipe = child.stdin as Socket;
  pipe.on('error', () => undefined);
  if (input !== undefined) {
    const stream = child.stdio[4] as Socket;
    stream.on('error', () => undefined);
    stream.end(input);
  }
  return {
    stop: () => pipe.end(),
    ended: ended(child),
    unref: () => (child.unref(), pipe.unref()),
    ref: () => (child.ref(), pipe.ref()),
  };
}

function ended(child: ChildProcess): Supervised['ended'] {
  return new Promise((resolve) => {
    child.once('error', (error) => resolve({ ok: false, how: `could not be started: ${error.message}` }));
    child.once('exit', (code, signal) => {
      const how = signal ? `its shell was killed by ${signal}` : code! > 128 ? `signal ${code! - 128}` : `code ${code}`;
      resolve({ ok: code === 0, how: `ended (${how})` });
    });
  });
}
