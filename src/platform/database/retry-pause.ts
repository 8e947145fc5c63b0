/**
 * For how many milliseconds a transaction that met another pauses before it begins again: up to twice as long each time,
 * any time below that as likely as any other, so that those that met do not come back at the same moment.
 */
export function retryPause(attempt: number, random: () => number = Math.random): number {
  return random() * 10 * 2 ** attempt;
}
