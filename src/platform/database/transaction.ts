import { setTimeout as sleep } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import type { DataSource } from 'typeorm';
import { failpoint } from '../failpoints.js';
import { DatabaseUnavailable, isContention, SessionSpoiled } from '../sessions/faults.js';
import { Session } from '../sessions/session.js';
import { nesting } from './nesting.js';
import { Pipeline } from './pipeline.js';
import { type Topic, Rollback, type Tx } from './queryable.js';
import { retryPause } from './retry-pause.js';
import type { Statement } from './statement.js';

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
    const pipeline = new Pipeline(name, session);
    try {
      const tx = openOn(pipeline, name, topics);
      outcome = await nesting.watch(name, () => work(tx));
      await failpoint(`${name}.before-commit`);
    } catch (error) {
      await pipeline.rollback();
      if (error instanceof Rollback) return error.outcome as T;
      throw error;
    }
    await pipeline.commit();
  } finally {
    await close(session, name);
  }
  try {
    options.onCommitted?.(topics);
    await failpoint(`${name}.committed`);
  } catch (error) {
    // It is committed, and the caller goes on with it: a fault after the commit can only be logged.
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

function openOn(pipeline: Pipeline, name: string, topics: Set<Topic>): Tx {
  return {
    name,
    ask: (async (...list: Statement<unknown>[]) => {
      const answers = await pipeline.ask(list);
      return list.length === 1 ? answers[0] : answers;
    }) as Tx['ask'],
    send: (statement) => {
      const answer = pipeline.send(statement);
      return () => answer;
    },
    notify: (topic) => topics.add(topic),
  };
}
