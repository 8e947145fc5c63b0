/**
 * Named points between two statements: tests stand there to force an interleaving, or to kill the process.
 * In production nobody listens and a point does nothing.
 */
export type FailpointHandler = (name: string) => Promise<void> | void;

let handler: FailpointHandler | undefined;

/** Passes the named point; waits for, or throws, whatever a test put there. */
export async function failpoint(name: string): Promise<void> {
  await handler?.(name);
}

/** Passes the point behind a statement: `<transaction>:<room>.<statement>`, by the comment that its text begins with. */
export function failpointBehind(transaction: string, sql: string): Promise<void> | void {
  if (handler === undefined) return;
  const statement = /^\/\* (\S+) \*\//.exec(sql)?.[1];
  if (statement !== undefined) return handler(`${transaction}:${statement}`);
}

/** Tests only: puts a handler at every point, or takes it away. */
export function atFailpoints(next: FailpointHandler | undefined): void {
  handler = next;
}
