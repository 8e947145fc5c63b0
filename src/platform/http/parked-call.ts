/** One call that waits. A notification that comes while it looks is kept, so that it looks once more instead of missing it. */
export class ParkedCall<For> {
  #notified = false;
  #looksForNews = false;
  #over = false;
  #wakeUp: () => void = () => undefined;
  #leaveQueue: () => void = () => undefined;

  constructor(readonly waitsFor: For) {}

  /** True once it is to answer with what it has: its time is over, it was displaced, its caller is gone, or the process stops. */
  get over(): boolean {
    return this.#over;
  }

  /** It was notified and has not looked since, or its last look was for that reason. */
  get owesLook(): boolean {
    return this.#notified || this.#looksForNews;
  }

  /** There may be something: look again. */
  readonly notify = (): void => {
    this.#notified = true;
    this.#wakeUp();
  };

  /** Its time is over: it looks once if it has not, and waits no more. */
  readonly expire = (): void => {
    this.#over = true;
    this.#wakeUp();
  };

  /** Nobody wants its answer, or somebody else wants it more: it leaves, even where it has not looked yet. */
  readonly end = (): void => {
    this.expire();
    this.#leaveQueue();
  };

  /** What it does where it is ended while it waits for its turn to look. */
  whenEnded(leaveQueue: () => void): void {
    this.#leaveQueue = leaveQueue;
  }

  /** Forgets the notifications so far; what comes from now on is kept for `notified`. */
  beginLook(): void {
    this.#looksForNews = this.#notified;
    this.#notified = false;
  }

  /** Resolves at the next notification, at once where one came since `beginLook`. */
  async notified(): Promise<void> {
    this.#looksForNews = false;
    if (this.#notified || this.#over) return;
    await new Promise<void>((resolve) => (this.#wakeUp = resolve));
  }
}
