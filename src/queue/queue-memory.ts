import type { Needs } from '../domain/sweep/queue-line.js';
import { WaitingQueue } from '../domain/sweep/waiting-queue.js';
import type { QueueChanges, RunState } from './queue.sql.js';

/** The queue as it was last read. */
export class QueueMemory {
  readonly queue = new WaitingQueue();
  /** When that was, by the clock of the database; milliseconds since 1970. */
  observedAt = 0;

  /** Puts in runs that were read together. Throws where it is not known what one of them needs. */
  put(runs: readonly RunState[]): void {
    const read = new Map<string, Needs>();
    for (const { signature, requires, spread } of runs) {
      if (requires) read.set(signature, { signature, requires, spread });
    }
    for (const run of runs) {
      const needs = read.get(run.signature) ?? this.queue.needsOf(run.signature);
      if (needs === undefined) throw new Error(`run ${run.run_id} was queued, and what it needs is there no more`);
      this.queue.put(run, needs);
    }
  }

  learn({ now, runs, gone }: Pick<QueueChanges, 'now' | 'runs' | 'gone'>): void {
    for (const runId of gone) this.queue.remove(runId);
    this.put(runs);
    this.observedAt = now;
  }
}
