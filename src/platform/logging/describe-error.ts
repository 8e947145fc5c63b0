export interface DescribedError {
  type: string;
  message: string;
  stack: string;
  [detail: string]: unknown;
}

/** What a log line tells of an error: never what was sent to the database, since a contract may be in it. */
export function describeError(error: Error): DescribedError {
  const { code, constraint, table, routine } = { ...error, ...driverError(error) } as Record<string, unknown>;
  const { message, stack = '' } = error;
  const cause = error.cause instanceof Error ? describeError(error.cause) : undefined;
  return { type: error.constructor.name, message, stack, code, constraint, table, routine, cause };
}

/** TypeORM wraps what the driver threw. */
function driverError(error: Error): object {
  const inner = (error as { driverError?: unknown }).driverError;
  return typeof inner === 'object' && inner !== null ? inner : {};
}
