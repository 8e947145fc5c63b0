import { expect } from '@jest/globals';
import type { TestDatabase } from './database.js';
import { eventually } from './eventually.js';

/**
 * Sends claims (without an instance) and returns when that many have looked and found nothing: from then on only a
 * notice can give them a step; or other calls that look by another statement. Seen from the database, so it works for a server in another process too.
 */
export async function park<T>(
  database: TestDatabase,
  claim: () => Promise<T>,
  looksBy = 'steps.read-ready-steps',
): Promise<{ answer: Promise<T> }> {
  const [now] = await database.sql<{ at: string }>('SELECT clock_timestamp()::text AS at');
  const answer = claim();
  // Whoever awaits the answer hears of its fault; until then it is no unhandled one.
  answer.catch(() => undefined);
  await eventually('the claim has looked', async () => {
    const looked = await database.sql(
      `SELECT 1 FROM pg_stat_activity
        WHERE datname = current_database() AND starts_with(query, '/* ' || $2 || ' */')
          AND state = 'idle' AND query_start > $1::timestamptz`,
      [now!.at, looksBy],
    );
    return looked.length > 0;
  });
  return { answer };
}

/** Returns when a transaction has carried out this statement, and waits to be told what comes next. */
export async function carriedOut(database: TestDatabase, name: string): Promise<void> {
  await eventually(`a transaction has carried out ${name}`, async () => {
    const waiting = await database.sql(
      `SELECT 1 FROM pg_stat_activity
        WHERE datname = current_database() AND state = 'idle in transaction' AND starts_with(query, '/* ' || $1 || ' */')`,
      [name],
    );
    return waiting.length > 0;
  });
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

/**
 * In five tries a parked claim is given what is wanted, and measured is how long after the answer of the request that made
 * it ready: within 2 s each time, and within 100 ms the fastest time, since the machine may be busy with something else.
 */
export async function expectGivenAtOnce(
  once: () => Promise<{ claim: Promise<any>; act: () => Promise<unknown>; want: object }>,
): Promise<void> {
  const waits: number[] = [];
  for (let attempt = 1; attempt <= 5; attempt++) {
    const { claim, act, want } = await once();
    const acted = act().then(() => performance.now());
    const [given, at, now] = await Promise.all([claim, acted, claim.then(() => performance.now())]);
    expect(given).toMatchObject({ status: 200, body: want });
    waits.push(now - at);
  }
  expect(Math.max(...waits)).toBeLessThan(2000);
  expect(Math.min(...waits)).toBeLessThan(100);
}
