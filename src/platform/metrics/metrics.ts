import { Injectable } from '@nestjs/common';
import { Counter, Histogram, Registry, collectDefaultMetrics } from 'prom-client';

/** The figures of this process. What needs the database is asked when somebody scrapes: see the health room. */
@Injectable()
export class Metrics {
  /** What the program counts: always as it is. */
  readonly registry = new Registry();
  /** What the process says of itself: not for nothing, so it is not asked each time. */
  readonly process = collectProcess('mediator_');

  readonly wakes = this.#counter('wakes_total', 'Calls of wake, by why.', ['why']);
  readonly sweeps = this.#counter('sweeps_total', 'Sweeps of the queue, by how they ended.', ['result']);
  readonly promotions = this.#counter('promotions_total', 'Runs promoted from the queue.', []);
  readonly askNotices = this.#counter('ask_notices_total', 'Questions the webhook was to be told of.', ['result']);
  readonly sweepSeconds = new Histogram({
    name: 'mediator_sweep_duration_seconds',
    help: 'How long a sweep of the queue takes.',
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
    registers: [this.registry],
  });
  readonly transactionRetries = this.#counter(
    'transaction_retries_total',
    'Transactions begun again after a deadlock, a serialization failure or a lock timeout.',
    ['transaction'],
  );

  #counter<Label extends string>(name: string, help: string, labelNames: Label[]): Counter<Label> {
    return new Counter({ name: `mediator_${name}`, help, labelNames, registers: [this.registry] });
  }
}

/** Gauges whose names end as those of counters do. Each is the sum of the gauge beside it, by type, and so left out. */
const NAMED_AS_COUNTERS = ['handles', 'requests', 'resources'].map((what) => `nodejs_active_${what}_total`);

/** What the process says of itself: memory, processor, event loop. */
function collectProcess(prefix: string): Registry {
  const register = new Registry();
  collectDefaultMetrics({ register, prefix });
  for (const name of NAMED_AS_COUNTERS) register.removeSingleMetric(prefix + name);
  return register;
}
