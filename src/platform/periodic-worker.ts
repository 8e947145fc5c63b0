import { Latch } from './latch.js';

export interface Period {
  everySeconds: number;
  /** Whether the first run begins at once, or when the first period is over. */
  first: 'at once' | 'after a period';
  /** The longest pause after a run that failed; as after any other, where it is left out. */
  afterFailureSeconds?: number;
}

/**
 * Runs one function again and again, a period after each run has ended, so that runs never overlap. A run that fails is
 * reported and ends nothing. The timer keeps no process alive.
 */
export class PeriodicWorker {
  readonly #runs = Latch.shared<void, void>(() => this.#runOnce());
  #period: Period | undefined;
  #timer: NodeJS.Timeout | undefined;
  #dueMs = Infinity;
  #stopped = false;

  constructor(
    private readonly work: () => Promise<unknown>,
    private readonly onError: (error: unknown) => void,
  ) {}

  /** Goes on until `stop`. */
  start(period: Period): void {
    this.#period = period;
    if (period.first === 'at once') this.now();
    else this.soon(period.everySeconds);
  }

  /** Runs now, or once more where a run is under way. Waits for nothing. */
  now(): void {
    void this.#runs.enter();
  }

  /** Sees to it that a run begins within so many seconds, at the latest. */
  soon(seconds: number): void {
    const dueMs = performance.now() + seconds * 1000;
    if (this.#stopped || this.#dueMs <= dueMs) return;
    clearTimeout(this.#timer);
    this.#dueMs = dueMs;
    this.#timer = setTimeout(() => this.now(), seconds * 1000).unref();
  }

  /** Begins no run any more; resolves when the one that is under way has ended. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#disarm();
    await this.#runs.idle();
  }

  async #runOnce(): Promise<void> {
    if (this.#stopped) return;
    this.#disarm();
    const failed = await this.#fails();
    if (this.#period === undefined) return;
    const { everySeconds, afterFailureSeconds = everySeconds } = this.#period;
    this.soon(failed ? Math.min(everySeconds, afterFailureSeconds) : everySeconds);
  }

  async #fails(): Promise<boolean> {
    try {
      await this.work();
      return false;
    } catch (error) {
      this.onError(error);
      return true;
    }
  }

  #disarm(): void {
    clearTimeout(this.#timer);
    this.#dueMs = Infinity;
  }
}
