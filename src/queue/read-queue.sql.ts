import type { Requirement } from '../domain/contract/contract.js';
import type { Queryable } from '../platform/database/queryable.js';

export interface QueuedRun {
  run_id: string;
  requires: Requirement[];
  spread: boolean;
}

/** Whether anything waits at all: one look into the index. */
export async function somethingIsQueued(database: Queryable): Promise<boolean> {
  const { rows } = await database.query(
    "/* queue.something-is-queued */ SELECT 1 FROM runs WHERE state = 'QUEUED' LIMIT 1",
  );
  return rows.length > 0;
}

/** Every queued run with what it needs, in arrival order. */
export async function readQueue(database: Queryable): Promise<QueuedRun[]> {
  const { rows } = await database.query<QueuedRun>(
    `/* queue.read-queue */
     SELECT run_id, requires, spread FROM runs WHERE state = 'QUEUED' ORDER BY created_at, seq`,
  );
  return rows;
}
