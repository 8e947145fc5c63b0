import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { within } from '../../../src/platform/within.js';

/** Where a server ends itself; `ask`: it stands there until it is told to go on. */
export interface Armed {
  point: string;
  /** The first, the second… time that it is passed from now on. */
  passing: number;
  ask?: boolean;
}

const SCRIPT = join(process.cwd(), 'test/storm/killable-server.mjs');

/** The compiled server as a process of its own, which can be made to die at a named point. */
export class Killable {
  readonly #child: ChildProcess;
  readonly #ready: Promise<string>;
  #output = '';
  #at: () => void = () => undefined;
  /** How it ended; `SIGKILL` where it died as it was to. */
  readonly ended: Promise<string>;
  #end: string | undefined;

  /** Loads the program; `record`: a file to which the name of each point goes that is passed. */
  constructor(record?: string) {
    const env = { PATH: process.env.PATH, ...(record !== undefined && { RECORD_POINTS: record }) };
    this.#child = fork(SCRIPT, { env, execArgv: [], stdio: ['ignore', 'pipe', 'pipe', 'ipc'] });
    this.#ready = new Promise((resolve) => {
      for (const stream of [this.#child.stdout!, this.#child.stderr!]) {
        stream.on('data', (chunk) => {
          this.#output += String(chunk);
          const url = /ready at (http:\/\/[^\s,]+)/.exec(this.#output)?.[1];
          if (url !== undefined) resolve(url);
        });
      }
    });
    this.#child.on('message', (told) => {
      if ('at' in (told as object)) this.#at();
    });
    this.ended = once(this.#child, 'exit').then(([code, signal]) => (this.#end = String(signal ?? code)));
  }

  get isOver(): boolean {
    return this.#end !== undefined;
  }

  /** Starts it; gives its address once it is ready, undefined where it died before. */
  async start(env: Record<string, string>, arm?: Armed): Promise<string | undefined> {
    this.#child.send({ start: { PORT: '0', LOG_LEVEL: 'fatal', ...env }, arm });
    const end = await within(60, Promise.race([this.#ready, this.ended]));
    if (end.startsWith('http')) return end;
    if (end !== 'SIGKILL') throw new Error(`the server ended with ${end}: ${this.#output}`);
    return undefined;
  }

  arm(armed: Armed): void {
    this.#child.send({ arm: armed });
  }

  disarm(): void {
    if (!this.isOver) this.#child.send({ disarm: true });
  }

  /** What is done when it stands at the point at which it was to ask; then it goes on. */
  whenAt(act: () => void): void {
    this.#at = () => {
      act();
      this.#child.send({ go: true });
    };
  }

  signal(name: NodeJS.Signals): void {
    this.#child.kill(name);
  }
}
