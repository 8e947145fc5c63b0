/**
 * A statement that is sent before it is known whether what went before it has come out well. Where it has not, its own
 * outcome is of no interest; whoever awaits it is told all the same.
 */
export function ahead<T>(sent: Promise<T>): Promise<T> {
  sent.catch(() => undefined);
  return sent;
}
