/** How an error of the database is to be taken; by its SQLSTATE, and where there is none, as a lost connection. */

/** The database is away, or went away: nothing was answered. */
export class DatabaseUnavailable extends Error {
  constructor(cause: unknown) {
    super('the database does not answer', { cause });
  }
}

/** COMMIT was sent and not answered: whether it happened is unknown. */
export class CommitUnknown extends DatabaseUnavailable {}

const RETRYABLE = new Set(['40P01', '40001', '55P03']);

/** Deadlock, serialization failure or lock timeout: the whole transaction may be tried again. */
export function isContention(error: unknown): boolean {
  return RETRYABLE.has(sqlState(error) ?? '');
}

/** Why a statement refused to happen, as the function `refuse` of the database was told; undefined for any other error. */
export function refusal(error: unknown): string | undefined {
  return sqlState(error) === 'MD001' ? (error as Error).message : undefined;
}

/** SQLSTATE of an error, also of one that TypeORM wrapped. */
export function sqlState(error: unknown): string | undefined {
  const code = (error as { code?: unknown } | null)?.code;
  if (typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code)) return code;
  const inner = (error as { driverError?: unknown } | null)?.driverError;
  return inner === undefined || inner === error ? undefined : sqlState(inner);
}

// Connection exceptions, resources that are used up, shutdowns, a cancelled statement, a standby that only reads, a session
// ended for idling in a transaction, errors of the server's system: nothing that the statement itself has caused.
const AWAY = /^(08...|53...|57...|58...|25006|25P03)$/;
const SOCKET = /^(ECONN|EPIPE|ENOENT|EHOSTUNREACH|ENETUNREACH|ETIMEDOUT|ENOTFOUND|EAI_AGAIN)/;
const LOST =
  /Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error|not queryable|pool after calling end|Query read timeout/;

/** True where the fault is the way to the database, not what it was asked. */
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
