import type { TestDatabase } from './database.js';
import { eventually } from './eventually.js';

/**
 * Sends claims (without an instance) and returns when that many have looked and found nothing: from then on only a
 * notice can give them a step. Seen from the database, so it works for a server in another process too.
 */
export async function park<T>(database: TestDatabase, claim: () => Promise<T>): Promise<{ answer: Promise<T> }> {
  const [now] = await database.sql<{ at: string }>('SELECT clock_timestamp()::text AS at');
  const answer = claim();
  // Whoever awaits the answer hears of its fault; until then it is no unhandled one.
  answer.catch(() => undefined);
  await eventually('the claim has looked', async () => {
    const looked = await database.sql(
      `SELECT 1 FROM pg_stat_activity
        WHERE datname = current_database() AND query LIKE '/* execution.read-ready-steps */%'
          AND state = 'idle' AND query_start > $1::timestamptz`,
      [now!.at],
    );
    return looked.length > 0;
  });
  return { answer };
}

/** Returns when some statement that contains this text waits for a lock. */
export async function blockedOn(database: TestDatabase, text: string): Promise<void> {
  await eventually(`a statement with ${text} waits for a lock`, async () => {
    const waiting = await database.sql(
      `SELECT 1 FROM pg_stat_activity
        WHERE datname = current_database() AND wait_event_type = 'Lock' AND strpos(query, $1) > 0`,
      [text],
    );
    return waiting.length > 0;
  });
}
