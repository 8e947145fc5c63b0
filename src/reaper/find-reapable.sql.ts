import type { Queryable } from '../platform/database/queryable.js';

/** Runs under way with a lease that ran out. Unlocked: each is asked again under its lock, and whether it waits for a person. */
export async function findExpired(database: Queryable): Promise<string[]> {
  const { rows } = await database.query<{ run_id: string }>(
    `/* reaper.find-expired */
     SELECT DISTINCT l.run_id FROM leases l JOIN runs r USING (run_id)
      WHERE l.not_after < clock_timestamp() AND r.state = 'RUNNING' ORDER BY l.run_id`,
  );
  return rows.map((row) => row.run_id);
}

export interface Leftover {
  node_id: string;
  run_id: string;
}

/** Leases that outlived their run, by node. */
export async function findLeftovers(database: Queryable): Promise<Leftover[]> {
  const { rows } = await database.query<Leftover>(
    `/* reaper.find-leftovers */
     SELECT l.node_id, l.run_id FROM leases l JOIN runs r USING (run_id) WHERE r.ended_at IS NOT NULL ORDER BY l.node_id`,
  );
  return rows;
}
