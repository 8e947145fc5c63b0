import type pg from 'pg';
import { TooLate, within } from '../within.js';
import { DatabaseUnavailable, DatabaseUnfit, TakesNoWrites } from './faults.js';
import { readSession, type SessionFacts } from './read-session.sql.js';
import { breakOff } from './session-client.js';
import { SETTINGS } from './settings.js';

const OLDEST = 150_000;

/**
 * Asks a new session what it is: one round trip. Throws DatabaseUnfit where it cannot serve, and TakesNoWrites where it
 * cannot now: a session that begins so would stay so after the database takes writes again, or shows what a standby has.
 */
export async function judgeSession(client: pg.ClientBase, answerSeconds: number): Promise<void> {
  const facts = await inTime(client, answerSeconds, readSession(client));
  const unfit = unfitnessOf(facts);
  if (unfit !== undefined) throw new DatabaseUnfit(unfit);
  if (facts.recovering) throw new TakesNoWrites('it is a standby, or recovers');
  if (facts.read_only) throw new TakesNoWrites('default_transaction_read_only is on');
}

async function inTime<T>(client: pg.ClientBase, seconds: number, answer: Promise<T>): Promise<T> {
  try {
    return await within(seconds, answer);
  } catch (error) {
    if (!(error instanceof TooLate)) throw error;
    // Whoever closes it would wait for the answer, too.
    breakOff(client);
    throw new DatabaseUnavailable(error);
  }
}

/** Why no Mediator can work by this session, in a sentence that says what to do. */
export function unfitnessOf({ version, encoding, settings }: SessionFacts): string | undefined {
  if (version < OLDEST) {
    return `the database is PostgreSQL ${Math.floor(version / 10_000)}: the Mediator needs ${OLDEST / 10_000} or newer`;
  }
  if (encoding !== 'UTF8') {
    return (
      `the database has the encoding ${encoding}: the Mediator needs UTF8; ` +
      `make another by CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0, and name it in DATABASE_URL`
    );
  }
  if (settings.session_replication_role !== SETTINGS.session_replication_role) {
    return (
      `sessions of this database begin with session_replication_role = ${settings.session_replication_role}, ` +
      'so that its triggers do not fire: reset it for the role and the database'
    );
  }
  const lost = Object.entries(SETTINGS).filter(([name, value]) => settings[name] !== value);
  if (lost.length === 0) return undefined;
  const [[name, value]] = lost as [[string, string]];
  const others = lost.length === 1 ? '' : ` and ${lost.length - 1} more`;
  return (
    `the settings that the Mediator gives its sessions do not arrive (${name} is ${settings[name]} instead of ${value}${others}): ` +
    'a pooler in between drops the startup parameter "options"; ' +
    'let DATABASE_URL lead to PostgreSQL itself, or to a pooler that works by sessions and passes "options" on'
  );
}
