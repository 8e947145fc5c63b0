/** For so long the same thing is not said again. */
const QUIET_MS = 30_000;

/** What would be said over and over: said when it changes, and then once in half a minute. */
export class Told {
  #last: { what: string; at: number; unsaid: number } | undefined;

  constructor(private readonly now: () => number = () => performance.now()) {}

  /** Calls `say` where it is time, with the number of times that the same was not said since. */
  tell(what: string, say: (unsaid: number) => void): void {
    const at = this.now();
    const last = this.#last;
    if (last?.what === what && at - last.at < QUIET_MS) {
      last.unsaid += 1;
      return;
    }
    this.#last = { what, at, unsaid: 0 };
    say(last?.what === what ? last.unsaid : 0);
  }

  /** It is over: the next time is a change. */
  forget(): void {
    this.#last = undefined;
  }
}
