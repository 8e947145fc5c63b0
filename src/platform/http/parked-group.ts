import type { ParkedCall } from './parked-call.js';

/** How many calls may wait for one thing, and look for it at once: a caller that sends thousands is no burden to the others. */
export interface Bounds<For> {
  /** Names what a call waits for: calls with the same name make up a group. */
  of: (call: For) => string;
  /** Of a group: beyond so many the time of the one that has waited longest is over. */
  most: number;
  /** Of a group: the others wait for their turn, as many as may wait at all. */
  looking: number;
  /** Whether the newer call stands in for the older one, whose time is then over. */
  replaces?: (newer: For, older: For) => boolean;
}

/** The calls that wait for one thing, the oldest first. */
export class ParkedGroup<For> {
  /** Those whose time is not over. */
  readonly #calls = new Set<ParkedCall<For>>();
  /** All that have come and not left: one that was displaced may still look. */
  #present = 0;
  readonly #queue = new Map<ParkedCall<For>, (begin: boolean) => void>();
  #looking = 0;

  constructor(private readonly bounds: Bounds<For>) {}

  /** No call is left, not even a displaced one: until then every new call belongs to this group and its bounds. */
  get deserted(): boolean {
    return this.#present === 0;
  }

  /** Takes the call in; the time of those that it displaces is over, but whoever has not looked yet still does. */
  enter(call: ParkedCall<For>): void {
    const { most, replaces } = this.bounds;
    for (const older of this.#calls) if (replaces?.(call.waitsFor, older.waitsFor)) this.#displace(older);
    const [oldest] = this.#calls;
    if (this.#calls.size >= most) this.#displace(oldest!);
    this.#calls.add(call);
    this.#present += 1;
  }

  leave(call: ParkedCall<For>): void {
    this.#calls.delete(call);
    this.#present -= 1;
  }

  /** Waits for the call's turn to look. False: it was ended meanwhile, and is not to look. */
  async begin(call: ParkedCall<For>): Promise<boolean> {
    if (this.#looking < this.bounds.looking) {
      this.#looking += 1;
      return true;
    }
    const [first] = this.#queue.keys();
    if (this.#queue.size >= this.bounds.most) first!.end();
    try {
      return await new Promise<boolean>((resolve) => {
        this.#queue.set(call, resolve);
        call.whenEnded(() => {
          if (this.#queue.delete(call)) resolve(false);
        });
      });
    } finally {
      call.whenEnded(() => undefined);
    }
  }

  /** Gives its turn to the call that has waited for one the longest. */
  finish(): void {
    const [next] = this.#queue;
    if (next === undefined) return void (this.#looking -= 1);
    this.#queue.delete(next[0]);
    next[1](true);
  }

  #displace(call: ParkedCall<For>): void {
    this.#calls.delete(call);
    call.expire();
  }
}
