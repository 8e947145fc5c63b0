import type { TestDatabase } from './database.js';

/**
 * Lets so many seconds pass for the database: every deadline that lies ahead, and every time that one is counted from, is
 * moved back. Servers are left out: they are neither older nor more silent for it.
 */
export async function moveClock({ sql }: Pick<TestDatabase, 'sql'>, seconds: number): Promise<void> {
  await sql(
    `WITH passed AS (SELECT make_interval(secs => $1) AS by),
     silent AS (UPDATE nodes SET expires_at = expires_at - by, remembered_from = remembered_from - by,
                     seen_at = seen_at - by, forgotten_at = forgotten_at - by, back_at = back_at - by FROM passed),
     ending AS (UPDATE leases SET not_after = not_after - by, granted_at = granted_at - by FROM passed),
     asking AS (UPDATE asks SET deadline = deadline - by FROM passed WHERE state = 'OPEN'),
     running AS (UPDATE runs SET started_at = started_at - by FROM passed WHERE state = 'RUNNING' RETURNING run_id),
     tried AS (UPDATE attempts a SET ended_at = a.ended_at - by FROM passed, running WHERE a.run_id = running.run_id)
     UPDATE steps s SET started_at = s.started_at - by, ended_at = s.ended_at - by,
                       pending_since = s.pending_since - by
       FROM passed, running WHERE s.run_id = running.run_id`,
    [seconds],
  );
}
