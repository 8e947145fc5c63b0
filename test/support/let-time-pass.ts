import type { TestDatabase } from './database.js';

/** Moves what the database knows of time so many seconds into the past: as if nobody had been there for so long. */
export async function letTimePass(database: TestDatabase, seconds: number): Promise<void> {
  const moved = [
    'servers SET seen_at = seen_at - gone',
    'nodes SET seen_at = seen_at - gone, expires_at = expires_at - gone',
    'leases SET granted_at = granted_at - gone, not_after = not_after - gone',
    'asks SET asked_at = asked_at - gone, deadline = deadline - gone',
    "steps SET started_at = started_at - gone WHERE state = 'CLAIMED'",
  ];
  for (const change of moved) {
    await database.sql(`UPDATE ${change.replaceAll('gone', 'make_interval(secs => $1)')}`, [seconds]);
  }
}
