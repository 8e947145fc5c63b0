/** How an error of the database is to be taken; by its SQLSTATE, and where there is none, as a lost connection. */

/** The database is away, or went away: nothing was answered. */
export class DatabaseUnavailable extends Error {
  constructor(cause: unknown) {
    super('the database does not answer', { cause });
  }
}

/** The database answers, and takes no writes now: a standby, or one that was set read-only. */
export class TakesNoWrites extends DatabaseUnavailable {
  constructor(why: string) {
    super(new Error(`the database takes no writes: ${why}`));
  }
}

/**
 * The fault lies with the session and not with what was asked: nothing of it has happened, and another session may well do
 * it. `fresh`: it has failed at the first use, so that another new one would fail as well.
 */
export class SessionSpoiled extends DatabaseUnavailable {
  constructor(
    cause: unknown,
    readonly fresh: boolean,
  ) {
    super(cause);
  }
}

/** No Mediator can work on this database until a person has changed something; the message is a sentence for them. */
export class DatabaseUnfit extends Error {}

/** COMMIT was sent and not answered: whether it happened is unknown. */
export class CommitUnknown extends DatabaseUnavailable {}

/** SQLSTATE of an error, also of one that TypeORM wrapped. */
export function sqlState(error: unknown): string | undefined {
  const code = (error as { code?: unknown } | null)?.code;
  if (typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code)) return code;
  const inner = (error as { driverError?: unknown } | null)?.driverError;
  return inner === undefined || inner === error ? undefined : sqlState(inner);
}

// Connection exceptions, resources that are used up, shutdowns, a cancelled statement, a standby that only reads, a session
// ended for idling in a transaction or for its length, errors of the server's system: nothing that the statement itself has caused.
const AWAY = /^(08...|53...|57...|58...|25006|25P0[34])$/;
const SOCKET = /^(ECONN|EPIPE|ENOENT|EHOSTUNREACH|ENETUNREACH|ETIMEDOUT|ENOTFOUND|EAI_AGAIN)/;
const LOST =
  /Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error|not queryable|pool after calling end|Query read timeout/;

// A transaction that only reads, or that somebody else has left open; a prepared statement, portal or savepoint that is not
// the one that was meant, or whose result would have another shape now; a server that has lost count of itself.
const SPOILT = /^(08P01|0A000|25(?!P0[234]).*|26000|34000|3B...|42P0[35]|XX...)$/;
/** The answer to every statement behind a failed one; where it comes first, the session was given back like this. */
const ABORTED = '25P02';

/** Whether a session that answered with this error is discarded; `first`: nothing has failed in this use of it before. */
export function spoils(error: unknown, first: boolean): boolean {
  const state = sqlState(error);
  return state !== undefined && (SPOILT.test(state) || (first && state === ABORTED));
}

/** Whether it says the same of a session that went bad and of a statement that no session can carry out. */
export function mayBeTheStatement(error: unknown): boolean {
  return /^(0A000|XX...)$/.test(sqlState(error) ?? '');
}

/** SQLSTATE and text of what lies at the bottom of an error. */
export function causeOf(error: unknown): string | undefined {
  const inner = (error as { cause?: unknown } | null)?.cause;
  if (inner instanceof Error) return causeOf(inner);
  if (!(error instanceof Error)) return undefined;
  const [line = ''] = error.message.split('\n', 1);
  return [sqlState(error), line].filter(Boolean).join(' ');
}

/** True where the fault lies with the connection to the database, not with what it was asked. */
export function isUnreachable(error: unknown): boolean {
  if (error instanceof DatabaseUnavailable) return true;
  const state = sqlState(error);
  if (state !== undefined && AWAY.test(state)) return true;
  const { name, message, code, errors } = (error ?? {}) as {
    name?: string;
    message?: string;
    code?: string;
    errors?: unknown[];
  };
  if (Array.isArray(errors)) return errors.some(isUnreachable);
  return (
    name === 'QueryRunnerProviderAlreadyReleasedError' ||
    name === 'QueryRunnerAlreadyReleasedError' ||
    (typeof code === 'string' && SOCKET.test(code)) ||
    LOST.test(message ?? '')
  );
}

const RETRYABLE = new Set(['40P01', '40001', '55P03']);

/** Deadlock, serialization failure or lock timeout: the whole transaction may be tried again. */
export function isContention(error: unknown): boolean {
  return RETRYABLE.has(sqlState(error) ?? '');
}
