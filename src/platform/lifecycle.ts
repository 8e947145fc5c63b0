import { Injectable } from '@nestjs/common';

/** Where the process stands. `lingering`: it was asked to stop and /readyz says so, but everything is still served. */
export type Phase = 'starting' | 'ready' | 'lingering' | 'stopping';

@Injectable()
export class Lifecycle {
  #phase: Phase = 'starting';
  readonly #stopping = new AbortController();
  readonly #graceOver = new AbortController();
  #endLinger: (() => void) | undefined;

  get phase(): Phase {
    return this.#phase;
  }

  /** Whether it serves /v1. */
  get serves(): boolean {
    return this.#phase === 'ready' || this.#phase === 'lingering';
  }

  /** Aborted when the process begins to stop: long polls answer, loops end. */
  get stopping(): AbortSignal {
    return this.#stopping.signal;
  }

  /** Aborted when the time to finish what was begun is over. */
  get graceOver(): AbortSignal {
    return this.#graceOver.signal;
  }

  markReady(): void {
    if (this.#phase === 'starting') this.#phase = 'ready';
  }

  /** Serves on for so long, while whoever sends requests here learns from /readyz to send them elsewhere. Not where it has not served yet. */
  async linger(seconds: number): Promise<void> {
    if (this.#phase !== 'ready' || seconds === 0) return;
    this.#phase = 'lingering';
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      this.#endLinger = resolve;
      timer = setTimeout(resolve, seconds * 1000);
    });
    clearTimeout(timer);
  }

  /** Goes on to stop, if it lingers. */
  endLinger(): void {
    this.#endLinger?.();
  }

  beginStop(): void {
    this.#phase = 'stopping';
    this.#stopping.abort();
  }

  endGrace(): void {
    this.#graceOver.abort();
  }
}
