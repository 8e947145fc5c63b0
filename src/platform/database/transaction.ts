import { setTimeout as sleep } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import type { DataSource } from 'typeorm';
import { failpoint } from '../failpoints.js';
import { CommitUnknown, DatabaseUnavailable, isContention, isUnreachable, SessionSpoiled } from './faults.js';
import { Flight } from './flight.js';
import { nesting } from './nesting.js';
import { Rollback, type Topic, type Tx } from './queryable.js';
import { retryPause } from './retry-pause.js';
import { Session } from './session.js';

/*
 * The order of locks, for everybody:
 *
 *   nodes (by node_id) → runs → the rest
 *
 * The run's lock is FOR NO KEY UPDATE (FOR UPDATE would block the foreign keys of uploads) and covers its leases, steps,
 * asks and record. Who needs a node takes it before the run. Exceptions: a promotion locks its QUEUED run first, since
 * nobody who holds a node asks for a QUEUED run; an acquire takes its node last and relies on the retry; a renewal
 * touches only `leases` of the locked node, without the run's lock.
 *
 * A lock is a statement of its own, and what depends on it is a later statement: one statement keeps the snapshot from
 * before it waited.
 */

export interface TransactionOptions {
  /** How long each statement may take to be answered. */
  answerSeconds: number;
  /** Whether contention (40P01, 40001, 55P03) runs the whole closure again. Default true. */
  retry?: boolean;
  onRetry?: (name: string) => void;
  /** A session is thrown away. */
  onSpoiled?: (fault: SessionSpoiled) => void;
  onCommitted?: (topics: ReadonlySet<Topic>) => void;
}

const ATTEMPTS = 6;
const logger = new Logger('database');

/**
 * Runs `work` in one transaction and commits it; a Rollback thrown inside rolls back and gives its outcome.
 * Where a session of the pool turns out to be bad, the whole closure runs again on another, until a new one is bad too.
 * COMMIT goes out behind what was sent, before that is answered: a statement fails where the transaction must not happen,
 * and behind one that has failed it is a rollback.
 * Throws CommitUnknown where COMMIT got no answer, DatabaseUnavailable where the database is away or the contention
 * does not end, and whatever else `work` threw after rolling back.
 */
export async function transaction<T>(
  source: DataSource,
  name: string,
  work: (tx: Tx) => Promise<T>,
  options: TransactionOptions,
): Promise<T> {
  nesting.refuse(name);
  for (let attempt = 1; ;) {
    try {
      return await once(source, name, work, options);
    } catch (error) {
      if (error instanceof SessionSpoiled) {
        options.onSpoiled?.(error);
        if (error.fresh) throw error;
        continue;
      }
      if (!isContention(error) || options.retry === false) throw error;
      if (attempt === ATTEMPTS) throw new DatabaseUnavailable(error);
      options.onRetry?.(name);
      await sleep(retryPause(attempt));
      attempt += 1;
    }
  }
}

async function once<T>(
  source: DataSource,
  name: string,
  work: (tx: Tx) => Promise<T>,
  options: TransactionOptions,
): Promise<T> {
  const session = await Session.open(source, options.answerSeconds);
  const topics = new Set<Topic>();
  let outcome: T;
  try {
    const flight = new Flight(name, session);
    // It goes out with the first statement, and is answered before it.
    flight.send('START TRANSACTION');
    try {
      const tx: Tx = {
        name,
        query: (sql, params) => flight.query(sql, params),
        send: (sql, params) => flight.send(sql, params),
        hint: (topic) => topics.add(topic),
        savepoint: (part) => savepoint(flight, part),
      };
      outcome = await nesting.watch(name, () => work(tx));
      await failpoint(`${name}.before-commit`);
    } catch (error) {
      flight.end();
      await rollback(session);
      if (error instanceof Rollback) return error.outcome as T;
      throw error;
    }
    flight.end();
    await commit(session, flight);
  } finally {
    await close(session, name);
  }
  try {
    options.onCommitted?.(topics);
    await failpoint(`${name}.committed`);
  } catch (error) {
    // It is done, and whoever asked has to go on with it: what comes after the commit can only be told.
    logger.error({ msg: 'work after a commit failed; the commit stands', transaction: name, err: error });
  }
  return outcome;
}

async function close(session: Session, name: string): Promise<void> {
  try {
    await session.close();
  } catch (error) {
    logger.error({ msg: 'a connection was not returned to the pool', transaction: name, err: error });
  }
}

/** One is open at a time: a part has no parts. */
async function savepoint<T>(flight: Flight, part: () => Promise<T>): Promise<T> {
  flight.send('SAVEPOINT part');
  try {
    const outcome = await part();
    flight.send('RELEASE SAVEPOINT part');
    return outcome;
  } catch (error) {
    // A deadlock or a lost connection has ended the whole transaction: there is nothing to go back to.
    if (!isContention(error) && !isUnreachable(error)) flight.send('ROLLBACK TO SAVEPOINT part');
    throw error;
  }
}

/** Where a statement has failed, so has the COMMIT behind it; where COMMIT is not answered, whether it happened is unknown. */
async function commit(session: Session, flight: Flight): Promise<void> {
  const [landed, committed] = await Promise.allSettled([flight.landed(), session.send('COMMIT')]);
  if (committed.status === 'rejected') {
    // An error with an SQLSTATE of its own is the answer "no"; a connection that went away is no answer.
    if (committed.reason instanceof DatabaseUnavailable) throw new CommitUnknown(committed.reason);
    throw landed.status === 'rejected' ? landed.reason : committed.reason;
  }
  const { command } = committed.value;
  // A statement that did not fail in the database, or in another session of a pooler, has not kept it from happening.
  if (command === 'COMMIT' && landed.status === 'rejected') {
    throw new Error('a transaction was committed without a statement that had failed', { cause: landed.reason });
  }
  if (landed.status === 'rejected') throw landed.reason;
  // So it is answered where a statement had failed and nobody had been told.
  if (command !== 'COMMIT') throw new Error(`COMMIT was answered by ${command}`);
}

async function rollback(session: Session): Promise<void> {
  try {
    await session.send('ROLLBACK');
  } catch (error) {
    // The connection is gone, and with it the transaction: that is a rollback too. The first error is the one to tell.
    if (!isUnreachable(error)) throw error;
  }
}
