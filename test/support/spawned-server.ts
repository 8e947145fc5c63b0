import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { eventually } from './eventually.js';

/** The compiled server as a process of its own. */
export interface SpawnedServer {
  child: ChildProcess;
  /** All it has written so far. */
  output(): string;
  /** Its address, once it says that it is ready. */
  url(): Promise<string>;
  /** Its exit code, once it has ended; null where a signal ended it. */
  exited: Promise<number | null>;
  /** Sends SIGTERM and waits for the end. */
  stop(): Promise<number | null>;
}

const MAIN: [string, ...string[]] = [process.execPath, join(process.cwd(), 'dist/src/main.js')];

/** Starts `node dist/src/main.js`, or another command, with this environment, beside PATH, on a free port of loopback. */
export function spawnServer(env: Record<string, string>, [command, ...args] = MAIN): SpawnedServer {
  const child = spawn(command, args, {
    // The life of a lease is never less than renew × factor, whatever the test says these are.
    env: { PATH: process.env.PATH, PORT: '0', LOG_LEVEL: 'warn', MEDIATOR_LEASE_TTL_SECONDS: '36000', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  child.stdout.on('data', (chunk) => (output += chunk));
  child.stderr.on('data', (chunk) => (output += chunk));
  const exited = once(child, 'exit').then(([code]) => code as number | null);
  return {
    child,
    output: () => output,
    url: () =>
      eventually(
        'the server says that it is ready',
        () => {
          if (child.exitCode !== null) throw new Error(`it ended with ${child.exitCode}: ${output}`);
          return /ready at (http:\/\/[^\s,]+)/.exec(output)?.[1];
        },
        30,
      ),
    exited,
    stop: () => {
      child.kill('SIGTERM');
      return exited;
    },
  };
}
