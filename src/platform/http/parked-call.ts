/** One call that waits. A notice that comes while it looks is kept, so that it looks once more instead of missing it. */
export class ParkedCall<For> {
  #rung = false;
  #over = false;
  #wakeUp: () => void = () => undefined;

  constructor(readonly waitsFor: For) {}

  /** True once it is to answer with what it has: its time is over, its caller gone, or the process stops. */
  get over(): boolean {
    return this.#over;
  }

  /** There may be something: look again. */
  readonly ring = (): void => {
    this.#rung = true;
    this.#wakeUp();
  };

  readonly end = (): void => {
    this.#over = true;
    this.ring();
  };

  /** Forgets the notices so far; what comes from now on is kept for `noticed`. */
  beginLook(): void {
    this.#rung = false;
  }

  /** Resolves at the next notice, at once where one came since `beginLook`. */
  async noticed(): Promise<void> {
    if (this.#rung || this.#over) return;
    await new Promise<void>((resolve) => (this.#wakeUp = resolve));
  }
}
