import { Injectable } from '@nestjs/common';
import { Gauge, Registry } from 'prom-client';
import { RUN_STATES } from '../domain/states.js';
import { Database } from '../platform/database/database.js';
import { Metrics } from '../platform/metrics/metrics.js';
import { within } from '../platform/within.js';
import { type Figures, readFigures } from './read-figures.sql.js';

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
      return own + (await render(await within(seconds, readFigures(this.database))));
    } catch {
      return own;
    }
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
