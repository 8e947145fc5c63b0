import { expect } from '@jest/globals';
import type { TestDatabase } from './database.js';
import { eventually } from './eventually.js';

/** The statement by which a call looks, and that by which the server looks for all who are parked when there is a notice. */
type Looks = readonly [own: string, forAll: string];
const FOR_STEPS: Looks = ['steps.read-claimable', 'steps.read-nodes-to-ask'];
export const FOR_LOGS: Looks = ['bodies.find-log', 'bodies.find-changed-logs'];

/**
 * Sends a claim (without an instance) and returns when it has looked and found nothing: from then on only a notice can give
 * it a step; or another call that looks by other statements. Seen from the database, so it works for a server in another
 * process too: a session shows its last statement alone, and after the call's own look that may be the one for all. Where others are parked
 * already it may be theirs, and this call is only about to look.
 */
export async function park<T>(
  database: TestDatabase,
  claim: () => Promise<T>,
  looks = FOR_STEPS,
): Promise<{ answer: Promise<T> }> {
  const [now] = await database.sql<{ at: string }>('SELECT clock_timestamp()::text AS at');
  let early: { value: T } | undefined;
  const answer = claim().then((value) => (early = { value }).value);
  // Whoever awaits the answer hears of its fault; until then it is no unhandled one.
  answer.catch(() => undefined);
  const looked = await eventually('the claim has looked', async () => {
    const [seen] = await database.sql<{ looked: boolean }>(
      `SELECT count(*) > 0 AND bool_and(state = 'idle') AS looked FROM pg_stat_activity
        WHERE datname = current_database() AND split_part(query, ' ', 2) = ANY ($2) AND query_start > $1::timestamptz`,
      [now!.at, looks],
    );
    return seen!.looked || early;
  });
  // Not: it was answered before anybody saw it look.
  expect(looked).toBe(true);
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

/** Returns when something waits for a lock (this call, in whatever statement), or the call is answered without. */
export async function blockedOrAnswered(database: TestDatabase, call: Promise<unknown>): Promise<void> {
  let answered = false;
  const end = (): void => void (answered = true);
  void call.then(end, end);
  await eventually('the call waits for a lock, or is answered', async () => {
    const waiting = await database.sql(
      "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
    );
    return waiting.length > 0 || answered;
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
