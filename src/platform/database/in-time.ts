import type { QueryRunner } from 'typeorm';
import { TooLate, within } from '../within.js';
import { DatabaseUnavailable } from './faults.js';

/**
 * What the database answers, or DatabaseUnavailable where it does not in time: a way that takes bytes and brings none back
 * is noticed by nobody else. The connection is given up then, since whoever got it next would wait behind this statement.
 * It is connected before, which has a limit of its own.
 */
export async function inTime<T>(runner: QueryRunner, seconds: number, send: () => Promise<T>): Promise<T> {
  const client = (await runner.connect()) as { end(): Promise<void> };
  try {
    return await within(seconds, send());
  } catch (error) {
    if (!(error instanceof TooLate)) throw error;
    // Not awaited: it is for the other end to answer to this as well.
    client.end().catch(() => undefined);
    throw new DatabaseUnavailable(error);
  }
}
