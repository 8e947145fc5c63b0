/** Callers that are remembered; the one that was silent for longest is forgotten first, and may then begin anew. */
const MOST_CALLERS = 10_000;

interface Bucket {
  level: number;
  at: number;
}

/**
 * How often each caller may call: a bucket that holds what one second brings, at least one call, and fills evenly. The
 * limit is this process's own. The packages there are for this count in fixed windows, which lets twice as many through
 * where two windows meet.
 */
export class RateLimit {
  readonly #buckets = new Map<string, Bucket>();
  readonly #capacity: number;

  constructor(
    private readonly perSecond: number,
    private readonly now: () => number = () => performance.now() / 1000,
  ) {
    this.#capacity = Math.max(1, perSecond);
  }

  /** Takes one call of this caller; gives the whole seconds to wait where it is one too many, else 0. */
  take(caller: string): number {
    const now = this.now();
    const { level, at } = this.#buckets.get(caller) ?? { level: this.#capacity, at: now };
    const filled = Math.min(this.#capacity, level + (now - at) * this.perSecond);
    const left = filled >= 1 ? filled - 1 : filled;
    // Taken out and put back, it is the last of the map.
    this.#buckets.delete(caller);
    this.#buckets.set(caller, { level: left, at: now });
    if (this.#buckets.size > MOST_CALLERS) this.#buckets.delete(this.#buckets.keys().next().value!);
    return filled >= 1 ? 0 : Math.max(1, Math.ceil((1 - filled) / this.perSecond));
  }

  /** How many callers are remembered. */
  get size(): number {
    return this.#buckets.size;
  }
}
