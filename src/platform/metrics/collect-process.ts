import { collectDefaultMetrics, Registry } from 'prom-client';

/** Gauges whose names end as those of counters do. Each is the sum of the gauge beside it, by type, and so left out. */
const NAMED_AS_COUNTERS = ['handles', 'requests', 'resources'].map((what) => `nodejs_active_${what}_total`);

/** What the process says of itself: memory, processor, event loop. */
export function collectProcess(prefix: string): Registry {
  const register = new Registry();
  collectDefaultMetrics({ register, prefix });
  for (const name of NAMED_AS_COUNTERS) register.removeSingleMetric(prefix + name);
  return register;
}
