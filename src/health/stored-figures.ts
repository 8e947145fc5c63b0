import { Injectable } from '@nestjs/common';
import { Gauge, Registry } from 'prom-client';
import { RUN_STATES, type RunState } from '../domain/states.js';
import { Database } from '../platform/database/database.js';
import { Metrics } from '../platform/metrics/metrics.js';
import { within } from '../platform/within.js';

interface Figures {
  runs: Partial<Record<RunState, number>>;
  oldest_wait_seconds: number;
}

/** The figures of this process, and those of the database while it answers. */
@Injectable()
export class StoredFigures {
  constructor(
    private readonly database: Database,
    private readonly metrics: Metrics,
  ) {}

  /** Prometheus text; waits at most so long for the database. */
  async text(seconds: number): Promise<string> {
    const own = await this.metrics.registry.metrics();
    try {
      return own + (await render(await within(seconds, this.#read())));
    } catch {
      return own;
    }
  }

  async #read(): Promise<Figures> {
    const { rows } = await this.database.query<Figures>(
      `/* health.read-figures */
       SELECT (SELECT coalesce(json_object_agg(state, count), '{}')
                 FROM (SELECT state, count(*) FROM runs GROUP BY state) AS by_state) AS runs,
              (SELECT coalesce(extract(epoch FROM clock_timestamp() - min(created_at)), 0)::float8
                 FROM runs WHERE state = 'QUEUED') AS oldest_wait_seconds`,
    );
    return rows[0]!;
  }
}

async function render({ runs, oldest_wait_seconds }: Figures): Promise<string> {
  const registers = [new Registry()];
  const byState = new Gauge({ name: 'mediator_runs', help: 'Runs by state.', labelNames: ['state'], registers });
  for (const state of RUN_STATES) byState.set({ state }, runs[state] ?? 0);
  new Gauge({ name: 'mediator_queue_depth', help: 'Runs that wait.', registers }).set(runs.QUEUED ?? 0);
  new Gauge({
    name: 'mediator_queue_oldest_wait_seconds',
    help: 'How long the oldest queued run has waited; 0 where none waits.',
    registers,
  }).set(oldest_wait_seconds);
  return `\n${await registers[0]!.metrics()}`;
}
