import type { GroupRequirements } from '../domain/sweep/requirement-group.js';
import { WaitingQueue } from '../domain/sweep/waiting-queue.js';
import type { QueueChanges, RunState } from './queue.sql.js';

/** The queue as it was last read. */
export class QueueMemory {
  readonly queue = new WaitingQueue();
  /** When that was, by the clock of the database; milliseconds since 1970. */
  observedAt = 0;

  /** Puts in runs that were read together. Throws where it is not known what one of them requires. */
  put(runs: readonly RunState[]): void {
    const read = new Map<string, GroupRequirements>();
    for (const { signature, requires, spread } of runs) {
      if (requires) read.set(signature, { signature, requires, spread });
    }
    for (const run of runs) {
      const required = read.get(run.signature) ?? this.queue.requirementsOf(run.signature);
      if (required === undefined) throw new Error(`run ${run.run_id} is queued, and what it requires is not known`);
      this.queue.put(run, required);
    }
  }

  apply({ now, runs, gone }: Pick<QueueChanges, 'now' | 'runs' | 'gone'>): void {
    for (const runId of gone) this.queue.remove(runId);
    this.put(runs);
    this.observedAt = now;
  }
}
