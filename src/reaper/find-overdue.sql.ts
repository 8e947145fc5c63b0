import type { Queryable } from '../platform/database/queryable.js';

export interface Overdue {
  run_id: string;
  seq: number;
}

/** Questions past their time. Unlocked: each is asked again under its run's lock. */
export async function findOverdueAsks(database: Queryable): Promise<Overdue[]> {
  const { rows } = await database.query<Overdue>(
    `/* reaper.find-overdue-asks */
     SELECT run_id, seq FROM asks WHERE state = 'OPEN' AND deadline < clock_timestamp() ORDER BY deadline`,
  );
  return rows;
}

/** Steps claimed for longer than their time and one renew period, of nodes that could have told. Unlocked, like the questions. */
export async function findOverdueSteps(database: Queryable, graceSeconds: number): Promise<Overdue[]> {
  const { rows } = await database.query<Overdue>(
    `/* reaper.find-overdue-steps */
     SELECT run_id, seq FROM steps JOIN nodes n USING (node_id)
      WHERE state = 'CLAIMED' AND timeout_seconds IS NOT NULL AND NOT n.revived
        AND started_at + make_interval(secs => timeout_seconds + $1) < clock_timestamp()
      ORDER BY started_at`,
    [graceSeconds],
  );
  return rows;
}
