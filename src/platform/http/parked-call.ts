/** One call that waits. A notice that comes while it looks is kept, so that it looks once more instead of missing it. */
export class ParkedCall<For> {
  #rung = false;
  #woken = false;
  #over = false;
  #wakeUp: () => void = () => undefined;
  #leaveLine: () => void = () => undefined;

  constructor(readonly waitsFor: For) {}

  /** True once it is to answer with what it has: its time is over, it was displaced, its caller gone, or the process stops. */
  get over(): boolean {
    return this.#over;
  }

  /** It was told that there may be something, and has not looked since, or has just looked for that reason. */
  get owesLook(): boolean {
    return this.#rung || this.#woken;
  }

  /** There may be something: look again. */
  readonly ring = (): void => {
    this.#rung = true;
    this.#wakeUp();
  };

  /** Its time is over: it looks once if it has not, and waits no more. */
  readonly expire = (): void => {
    this.#over = true;
    this.#wakeUp();
  };

  /** Nobody wants its answer, or somebody else wants it more: it leaves, also where it has yet to look. */
  readonly end = (): void => {
    this.expire();
    this.#leaveLine();
  };

  /** What it does where it is ended while it waits for its turn to look. */
  whenEnded(leaveLine: () => void): void {
    this.#leaveLine = leaveLine;
  }

  /** Forgets the notices so far; what comes from now on is kept for `noticed`. */
  beginLook(): void {
    this.#woken = this.#rung;
    this.#rung = false;
  }

  /** Resolves at the next notice, at once where one came since `beginLook`. */
  async noticed(): Promise<void> {
    this.#woken = false;
    if (this.#rung || this.#over) return;
    await new Promise<void>((resolve) => (this.#wakeUp = resolve));
  }
}
