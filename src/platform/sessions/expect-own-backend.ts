import type pg from 'pg';
import type { DataSource } from 'typeorm';
import { TooLate, within } from '../within.js';
import { DatabaseUnfit, isUnreachable } from './faults.js';
import { readBackend } from './read-session.sql.js';

/** Longer than a statement takes that asks who it is, on a busy machine. */
const ANSWER_SECONDS = 3;
const LOOKS = 3;

/**
 * Throws where a pooler on the way gives a session another server process for each transaction: it forgets what was
 * prepared, locked and set. One session asks who answers it, several times, and again while another has a transaction open.
 * A pooler by transactions gives the processes in turn, or the one that was used last, which the other has then taken; where
 * it has a single one, it keeps the first waiting.
 */
export async function expectOwnBackend(source: DataSource): Promise<void> {
  const [one, other] = [source.createQueryRunner(), source.createQueryRunner()];
  try {
    const first = (await one.connect()) as pg.ClientBase;
    const second = await connectOther(() => other.connect() as Promise<pg.ClientBase>);
    // Where there is no second one to be had, nobody can tell.
    if (second === undefined) return;
    const answering = new Set<number>();
    for (let look = 1; look <= LOOKS; look++) answering.add(await readBackend(first));
    await second.query('START TRANSACTION');
    try {
      answering.add(await within(ANSWER_SECONDS, readBackend(first)));
    } catch (error) {
      throw error instanceof TooLate ? new DatabaseUnfit(BY_TRANSACTIONS) : error;
    } finally {
      await second.query('ROLLBACK');
    }
    if (answering.size > 1) throw new DatabaseUnfit(BY_TRANSACTIONS);
  } finally {
    await one.release();
    await other.release();
  }
}

const BY_TRANSACTIONS =
  'a pooler between the Mediator and PostgreSQL works by transactions: sessions share server processes, and forget what was ' +
  'prepared and locked; let it work by sessions (PgBouncer: pool_mode = session), or let DATABASE_URL lead to PostgreSQL itself';

async function connectOther(connect: () => Promise<pg.ClientBase>): Promise<pg.ClientBase | undefined> {
  try {
    return await connect();
  } catch (error) {
    if (isUnreachable(error)) return undefined;
    throw error;
  }
}
