import type { TestDatabase } from './database.js';

/**
 * Lets so many seconds pass for the database: every deadline that lies ahead, and every time that one is counted from, is
 * moved back. Servers are left out: they are neither older nor more silent for it.
 */
export async function moveClock({ sql }: Pick<TestDatabase, 'sql'>, seconds: number): Promise<void> {
  await sql(
    `WITH passed AS (SELECT make_interval(secs => $1) AS by),
     silent AS (UPDATE nodes SET expires_at = expires_at - by, remembered_from = remembered_from - by,
                     seen_at = seen_at - by, forgotten_at = forgotten_at - by FROM passed),
     ending AS (UPDATE leases SET not_after = not_after - by FROM passed),
     asking AS (UPDATE asks SET deadline = deadline - by FROM passed WHERE state = 'OPEN')
     UPDATE steps SET started_at = started_at - by FROM passed WHERE state = 'CLAIMED'`,
    [seconds],
  );
}
