/** For so long the same thing is not said again. */
const QUIET_MS = 30_000;

/** Keeps what would be logged over and over to once: it is said when it changes, and then once in half a minute. */
export class SayOnce {
  #last: { what: string; at: number; unsaid: number } | undefined;

  constructor(private readonly now: () => number = () => performance.now()) {}

  /** Calls `write` where it is time, with how many times the same was left unsaid since. */
  say(what: string, write: (unsaid: number) => void): void {
    const at = this.now();
    const last = this.#last;
    if (last?.what === what && at - last.at < QUIET_MS) {
      last.unsaid += 1;
      return;
    }
    this.#last = { what, at, unsaid: 0 };
    write(last?.what === what ? last.unsaid : 0);
  }

  /** It is over: the next time is a change. */
  forget(): void {
    this.#last = undefined;
  }
}
