import { Injectable } from '@nestjs/common';
import { Gauge, Registry } from 'prom-client';
import { RUN_STATES } from '../domain/states.js';
import { Database } from '../platform/database/database.js';
import { Metrics } from '../platform/metrics/metrics.js';
import { AtMostEvery } from './at-most-every.js';
import { ping, type Figures, readFigures } from './health.sql.js';

/** How often the database is asked, and how long it is waited for. */
const STORED = { everySeconds: 5, waitSeconds: 2 };
/** How soon it is known that the database is away: metrics that are some seconds old are left out then. */
const ALIVE = { everySeconds: 0.1, waitSeconds: 2 };
/** What the process says of itself it reads from files of the system, which takes a thousandth of a second each time. */
const PROCESS = { everySeconds: 1, waitSeconds: 2 };

/** The metrics of this process, and those of the database while it answers. All who scrape share what is expensive. */
@Injectable()
export class StoredFigures {
  readonly #stored: AtMostEvery<string>;
  readonly #alive: AtMostEvery<true>;
  readonly #process: AtMostEvery<string>;

  constructor(
    database: Database,
    private readonly metrics: Metrics,
  ) {
    this.#stored = new AtMostEvery(async () => render(await database.ask(readFigures())), STORED);
    this.#alive = new AtMostEvery(() => database.ask(ping()).then(() => true as const), ALIVE);
    this.#process = new AtMostEvery(() => metrics.process.metrics(), PROCESS);
  }

  /** Prometheus text. */
  async text(): Promise<string> {
    const stored = this.#alive.latest().then((alive) => (alive ? this.#stored.latest() : undefined));
    const texts = await Promise.all([this.metrics.registry.metrics(), this.#process.latest(), stored]);
    return texts.filter((text) => text !== undefined).join('\n');
  }
}

const SHARED = 'Read from the shared database: every server reports the same value, so take the max, not the sum.';

function render({ runs, oldest_wait_seconds }: Figures): Promise<string> {
  const registry = new Registry();
  const registers = [registry];
  const byState = new Gauge({
    name: 'mediator_runs',
    help: `Runs by state. ${SHARED}`,
    labelNames: ['state'],
    registers,
  });
  for (const state of RUN_STATES) byState.set({ state }, Number(runs[state] ?? 0));
  const depth = new Gauge({ name: 'mediator_queue_depth', help: `Runs that wait in the queue. ${SHARED}`, registers });
  depth.set(Number(runs.QUEUED ?? 0));
  new Gauge({
    name: 'mediator_queue_oldest_wait_seconds',
    help: `How long the oldest queued run has waited, in seconds; 0 if none waits. ${SHARED}`,
    registers,
  }).set(oldest_wait_seconds);
  return registry.metrics();
}
