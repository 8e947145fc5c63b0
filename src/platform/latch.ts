interface Arrival<Item, Answer> {
  item: Item;
  resolve: (answer: Answer) => void;
  reject: (error: unknown) => void;
}

/**
 * One run at a time, and one that is next. Whoever arrives while nothing runs is served at once, together with everybody
 * else who arrives in the same turn of the loop. Whoever arrives during a run is served by the next one, which begins after
 * it: so what a run reads is never older than the arrival of anybody whom it serves, and a crowd costs two runs.
 * The error of a run goes to those whom it served, and to nobody else.
 */
export class Latch<Item = void, Answer = void> {
  readonly #waiting: Arrival<Item, Answer>[] = [];
  #running: Promise<void> | undefined;

  /**
   * `run` is given the items of those whom it serves, in order of arrival, and gives an answer to each, in the same order.
   * Where more than `most` are waiting, the rest is served by the run after it.
   */
  constructor(
    private readonly run: (items: Item[]) => Promise<readonly Answer[]>,
    private readonly most = Infinity,
  ) {}

  /** One whose runs give the same answer to everybody whom they serve. */
  static shared<Item, Answer>(run: (items: Item[]) => Promise<Answer>): Latch<Item, Answer> {
    return new Latch<Item, Answer>(async (items) => {
      const answer = await run(items);
      return items.map(() => answer);
    });
  }

  /** The answer of a run that begins after this was called, or its error. */
  enter(item: Item): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, resolve, reject });
      this.#running ??= this.#runAll();
    });
  }

  /** Resolves when nothing runs and nobody waits; never rejects. */
  async idle(): Promise<void> {
    await this.#running;
  }

  async #runAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      // Those who arrive in this turn come along, among them whoever has just been answered and goes on from there.
      await Promise.resolve();
      await this.#serve(this.#waiting.splice(0, this.most));
    }
    this.#running = undefined;
  }

  async #serve(served: Arrival<Item, Answer>[]): Promise<void> {
    try {
      const answers = await this.run(served.map(({ item }) => item));
      if (answers.length !== served.length) {
        throw new Error(`a run for ${served.length} items gave ${answers.length} answers`);
      }
      served.forEach(({ resolve }, place) => resolve(answers[place]!));
    } catch (error) {
      for (const { reject } of served) reject(error);
    }
  }
}
