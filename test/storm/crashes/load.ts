import type { TestDatabase } from '../../support/database.js';
import { eventually } from '../../support/eventually.js';
import type { TestMediator } from '../../support/mediator.js';
import { Caller } from './caller.js';
import { FieldNode, People } from './players.js';
import { expectAllSettled, expectNobodyStranded, goOn } from './settle.js';
import { NODES, type Scene, WITHOUT_A_HAND_IN_IT } from './strands.js';

/** Requests of all kinds, without end, by callers who come again after a 503; any other refusal is a fault. */
export class Load {
  readonly caller: Caller;
  readonly #people: People;
  readonly #nodes: Record<string, FieldNode>;
  #ready: Promise<unknown> | undefined;
  #stopped = false;
  #going: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly server: Pick<TestMediator, 'url' | 'send'>,
    private readonly database: TestDatabase,
    private readonly others: Pick<TestMediator, 'url' | 'send'>[] = [],
  ) {
    this.caller = new Caller(database, () => this.#untilReady());
    this.caller.url = server.url;
    this.caller.others = others.map(({ url }) => url);
    this.#people = new People(this.caller);
    this.#nodes = Object.fromEntries(NODES.map((nodeId) => [nodeId, new FieldNode(this.caller, nodeId)]));
  }

  begin(name: string): void {
    const scene = { people: this.#people, nodes: this.#nodes, database: this.database, planted: new Set<string>() };
    this.#going = Promise.all(
      WITHOUT_A_HAND_IN_IT.map(async (strand) => {
        for (let lap = 1; !this.#stopped; lap++) await strand({ ...scene, lap: `${name}-${lap}` } satisfies Scene);
      }),
    );
    // Told when it is awaited: by whoever disturbs, or at the end.
    this.#going.catch(() => undefined);
  }

  /** Returns when so many more answers have come. */
  async goesOn(answers: number): Promise<void> {
    const wanted = this.caller.answers + answers;
    const fault = this.#going.then(
      () => undefined,
      (error: unknown) => ({ error }),
    );
    const end = await Promise.race([fault, eventually('work goes on', () => this.caller.answers >= wanted, 30)]);
    if (typeof end === 'object') throw end.error;
  }

  /** Lets what is under way end, and looks whether everything that was promised is so and everything comes to its end. */
  async end(): Promise<{ looked: number; broken: string[] }> {
    this.#stopped = true;
    await this.#going;
    await expectNobodyStranded(this.#people);
    await goOn(this.database, this.#people, Object.values(this.#nodes));
    await expectAllSettled(this.database);
    return this.caller.look();
  }

  /** One looks for all who wait. */
  #untilReady(): Promise<unknown> {
    this.#ready ??= eventually(
      'every server is ready again',
      async () => {
        const asked = [this.server, ...this.others].map(({ send }) => send('GET', '/readyz'));
        return (await Promise.all(asked)).every(({ status }) => status === 200);
      },
      30,
    ).finally(() => (this.#ready = undefined));
    return this.#ready;
  }
}
