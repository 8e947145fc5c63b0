import { Injectable } from '@nestjs/common';
import { Counter, Histogram, Registry, collectDefaultMetrics } from 'prom-client';

/** The metrics of this process. Those that need the database are read when somebody scrapes: see the health room. */
@Injectable()
export class Metrics {
  /** What the program counts; always current. */
  readonly registry = new Registry();
  /** The metrics of the process itself. Reading them costs something, so this is not done on each scrape. */
  readonly process = collectProcess('mediator_');

  readonly wakes = this.#counter('wakes_total', 'Wakes of the queue, by why.', ['why']);
  readonly sweeps = this.#counter('sweeps_total', 'Sweeps of the queue, by result.', ['result']);
  readonly promotions = this.#counter('promotions_total', 'Queued runs that were promoted to RUNNING.', []);
  readonly askNotices = this.#counter('ask_notices_total', 'Notices of questions for the webhook, by result.', [
    'result',
  ]);
  readonly sweepSeconds = new Histogram({
    name: 'mediator_sweep_duration_seconds',
    help: 'Duration of the sweeps of the queue, in seconds.',
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
    registers: [this.registry],
  });
  readonly transactionRetries = this.#counter(
    'transaction_retries_total',
    'Transactions that were retried after a deadlock, a serialization failure or a lock timeout, by transaction.',
    ['transaction'],
  );

  #counter<Label extends string>(name: string, help: string, labelNames: Label[]): Counter<Label> {
    return new Counter({ name: `mediator_${name}`, help, labelNames, registers: [this.registry] });
  }
}

/** Gauges whose names end like those of counters. Each is only the sum of the gauge of the same name without `_total`. */
const NAMED_AS_COUNTERS = ['handles', 'requests', 'resources'].map((what) => `nodejs_active_${what}_total`);

/** The metrics of the process itself: memory, processor, event loop. */
function collectProcess(prefix: string): Registry {
  const register = new Registry();
  collectDefaultMetrics({ register, prefix });
  for (const name of NAMED_AS_COUNTERS) register.removeSingleMetric(prefix + name);
  return register;
}
