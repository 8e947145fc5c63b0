import { isUnreachable } from '../sessions/faults.js';
import type { Lifecycle } from '../lifecycle.js';
import { Lookout, type Occasions } from '../notifier/lookout.js';
import { ParkedCall } from './parked-call.js';
import { type Bounds, ParkedGroup } from './parked-group.js';

/*
 * Where long polls wait. A call registers before it looks, so that nothing which comes in between is missed. It looks again
 * when the Lookout finds something for it, and a moment after a look that the database did not answer.
 * One query finds, for all parked calls of the process, which of them should look; nothing is decided here, and no database
 * connection is held while a call waits. The query may name fewer calls than wait: where a call that was notified leaves
 * while others wait for the same, whatever it leaves with, the query is made once more.
 */
export class Parking<For> {
  readonly #parked = new Set<ParkedCall<For>>();
  readonly #groups = new Map<string, ParkedGroup<For>>();
  readonly #lookout: Lookout;
  #close: () => void = () => undefined;

  /** `findNews` gives those of the waiting, the oldest first, that should look; `what` names in the log what they look for. */
  constructor(
    what: string,
    private readonly lifecycle: Lifecycle,
    private readonly bounds: Bounds<For>,
    private readonly findNews: (waiting: For[]) => Promise<For[]>,
  ) {
    this.#lookout = new Lookout(what, () => this.#notifyParked());
  }

  /** Begins to notify the parked calls; `close` ends it. */
  open(occasions: Occasions): void {
    const endAll = (): void => this.#parked.forEach((call) => call.end());
    this.lifecycle.stopping.addEventListener('abort', endAll);
    this.#lookout.open(occasions);
    this.#close = () => {
      this.lifecycle.stopping.removeEventListener('abort', endAll);
      void this.#lookout.close();
    };
  }

  /** Waits for no query that is under way. */
  close(): void {
    this.#close();
  }

  /** How many calls wait now. */
  get size(): number {
    return this.#parked.size;
  }

  /**
   * Tries until `attempt` gives something; undefined where the time is over, the caller is gone or the process stops.
   * An error of `attempt` is thrown; but a call that waits already goes on waiting where the database does not answer.
   */
  async wait<T>(
    waitsFor: For,
    { seconds, gone }: { seconds: number; gone: AbortSignal },
    attempt: () => Promise<T | undefined>,
  ): Promise<T | undefined> {
    const parked = new ParkedCall(waitsFor);
    const group = this.#enter(parked);
    const timer = setTimeout(parked.expire, seconds * 1000);
    gone.addEventListener('abort', parked.end);
    // Both signals may have been given before anybody listened.
    if (gone.aborted || this.lifecycle.stopping.aborted) parked.end();
    let looked = false;
    try {
      for (;;) {
        if (!(await group.begin(parked))) return undefined;
        let found: T | undefined;
        try {
          parked.beginLook();
          found = looked ? await this.#patiently(attempt) : await attempt();
        } finally {
          group.finish();
        }
        looked = true;
        if (found !== undefined || parked.over) return found;
        await parked.notified();
        if (parked.over) return undefined;
      }
    } finally {
      this.#leave(parked, group);
      gone.removeEventListener('abort', parked.end);
      clearTimeout(timer);
    }
  }

  #enter(parked: ParkedCall<For>): ParkedGroup<For> {
    const name = this.bounds.of(parked.waitsFor);
    const group = this.#groups.get(name) ?? new ParkedGroup(this.bounds);
    this.#groups.set(name, group);
    group.enter(parked);
    this.#parked.add(parked);
    return group;
  }

  #leave(parked: ParkedCall<For>, group: ParkedGroup<For>): void {
    this.#parked.delete(parked);
    group.leave(parked);
    if (group.deserted) this.#groups.delete(this.bounds.of(parked.waitsFor));
    // It was notified of something that it may not have taken, and no other call was.
    else if (parked.owesLook) this.#lookout.now();
  }

  async #notifyParked(): Promise<void> {
    if (this.#parked.size === 0) return;
    const asked = [...this.#parked];
    const news = new Set(await this.findNews(asked.map((call) => call.waitsFor)));
    for (const call of asked) {
      if (!news.has(call.waitsFor)) continue;
      if (this.#parked.has(call)) call.notify();
      // It left during the query, which named nobody else for it. (A call that came during the query looks by itself.)
      else this.#lookout.now();
    }
  }

  /** Nothing, where the database does not answer: it looks again. */
  async #patiently<T>(attempt: () => Promise<T | undefined>): Promise<T | undefined> {
    try {
      return await attempt();
    } catch (error) {
      if (!isUnreachable(error)) throw error;
      this.#lookout.later();
      return undefined;
    }
  }
}
