import { Injectable } from '@nestjs/common';

/** Where the process stands: it serves `/v1` only while ready. */
export type Phase = 'starting' | 'ready' | 'stopping';

@Injectable()
export class Lifecycle {
  #phase: Phase = 'starting';
  readonly #stopping = new AbortController();
  readonly #graceOver = new AbortController();

  get phase(): Phase {
    return this.#phase;
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

  beginStop(): void {
    this.#phase = 'stopping';
    this.#stopping.abort();
  }

  endGrace(): void {
    this.#graceOver.abort();
  }
}
