import { setTimeout as sleep } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import type pg from 'pg';
import { type DataSource, MigrationExecutor, type QueryRunner } from 'typeorm';
import { within } from '../within.js';
import { SayOnce } from '../logging/say-once.js';
import { causeOf, DatabaseUnfit, isContention } from '../sessions/faults.js';
import { isAtWork, readBackend } from '../sessions/read-session.sql.js';
import { breakOff } from '../sessions/session-client.js';

/** Any number will do, as long as every Mediator takes the same: the lock that lets one of them migrate at a time. */
const MIGRATION_LOCK = 4_711_002_026;
const PAUSE_MS = 250;
/** Whoever comes to a table waits behind a migration that waits for its readers: so long, and as often as the pause allows. */
const LOCK_TIMEOUT = '200ms';

interface MigrateOptions {
  /** How long another connection waits for an answer when it looks whether the migration is still at work. */
  answerSeconds?: number;
  warn?: (line: Waits) => void;
}

/** For the log: what the migration waits for. */
interface Waits {
  msg: string;
  cause?: string;
}

/**
 * Brings the schema up to date. Several processes may start at once: they take turns on a session's advisory lock, since
 * the migrations' own transactions cannot protect the table that counts them. Throws DatabaseUnfit where it is newer than
 * this program.
 */
export async function migrate(source: DataSource, options: MigrateOptions = {}): Promise<void> {
  const { answerSeconds = 15 } = options;
  const said = new SayOnce();
  const say = options.warn ?? ((line: Waits) => new Logger('migrations').warn(line));
  const warn = (line: Waits): void => said.say(`${line.msg}: ${line.cause}`, () => say(line));
  const runner = source.createQueryRunner();
  const client = (await runner.connect()) as pg.ClientBase;
  const watch = watchOver(source, client, await readBackend(client), answerSeconds);
  let whole = false;
  try {
    while (!(await takeLock(client))) {
      warn({ msg: 'this server waits for another one that migrates the database' });
      await sleep(PAUSE_MS);
    }
    await refuseNewer(source, client);
    await client.query(`SET lock_timeout = '${LOCK_TIMEOUT}'`);
    for (let done = false; !done;) {
      done = await runPending(source, runner, warn);
      if (!done) await sleep(PAUSE_MS);
    }
    await client.query('RESET lock_timeout');
    await client.query('SELECT pg_advisory_unlock($1)', [MIGRATION_LOCK]);
    whole = true;
  } finally {
    clearInterval(watch);
    // Its end gives the lock back where nothing else can.
    if (!whole) breakOff(client);
    await runner.release();
  }
}

async function takeLock(client: pg.ClientBase): Promise<boolean> {
  const { rows } = await client.query<{ taken: boolean }>('SELECT pg_try_advisory_lock($1) AS taken', [MIGRATION_LOCK]);
  return rows[0]!.taken;
}

/** What this program does not know may have changed what it relies on. */
async function refuseNewer(source: DataSource, client: pg.ClientBase): Promise<void> {
  const table = await client.query("SELECT WHERE to_regclass('public.migrations') IS NOT NULL");
  if (table.rows.length === 0) return;
  const known = source.migrations.map(({ name, constructor }) => name ?? constructor.name);
  const done = await client.query<{ name: string }>('SELECT name FROM public.migrations ORDER BY id');
  const unknown = done.rows.map(({ name }) => name).filter((name) => !known.includes(name));
  if (unknown.length === 0) return;
  throw new DatabaseUnfit(
    `the database is newer than this program (it has had ${unknown.join(', ')}): start the version that migrated it, or a later one`,
  );
}

/** False where somebody reads or writes what a migration has to change: those before it are done. */
async function runPending(source: DataSource, runner: QueryRunner, warn: (line: Waits) => void): Promise<boolean> {
  const executor = new MigrationExecutor(source, runner);
  executor.transaction = 'each';
  try {
    await executor.executePendingMigrations();
    return true;
  } catch (error) {
    if (!isContention(error)) throw error;
    warn({ msg: 'a migration waits for a table that is in use', cause: causeOf(error) });
    return false;
  }
}

/**
 * A statement of a migration may take long, so nobody can say when its answer is due: another connection looks whether it is
 * still carried out. Where it is not, or nobody answers that either, the answer was lost.
 */
function watchOver(source: DataSource, client: pg.ClientBase, pid: number, answerSeconds: number): NodeJS.Timeout {
  let idle = 0;
  let looking = false;
  const look = async (): Promise<void> => {
    if (looking) return;
    looking = true;
    const runner = source.createQueryRunner();
    let other: pg.ClientBase | undefined;
    try {
      other = (await within(answerSeconds, runner.connect())) as pg.ClientBase;
      idle = (await within(answerSeconds, isAtWork(other, pid))) ? 0 : idle + 1;
      // Between two statements it is not at work either, for a moment.
      if (idle > 1) breakOff(client);
    } catch {
      breakOff(client);
      if (other !== undefined) breakOff(other);
    } finally {
      await runner.release();
      looking = false;
    }
  };
  return setInterval(() => void look(), answerSeconds * 1000).unref();
}
