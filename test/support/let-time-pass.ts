import type { TestDatabase } from './database.js';
import { moveClock } from './move-clock.js';

/** Lets so many seconds pass without a server that could be spoken to. */
export async function letTimePass(database: TestDatabase, seconds: number): Promise<void> {
  await moveClock(database, seconds);
  await database.sql('UPDATE servers SET seen_at = seen_at - make_interval(secs => $1)', [seconds]);
}
