import { setImmediate as turn } from 'node:timers/promises';

/** Waits for a state: asks again and again until the answer is neither undefined nor false, and fails with what it saw last. */
export async function eventually<T>(
  what: string,
  look: () => Promise<T | undefined | false> | T | undefined | false,
  seconds = 10,
): Promise<T> {
  const end = Date.now() + seconds * 1000;
  let last: unknown;
  do {
    try {
      const seen = await look();
      if (seen !== undefined && seen !== false) return seen;
      last = seen;
    } catch (error) {
      last = error;
    }
    await turn();
  } while (Date.now() < end);
  throw new Error(`${what}: not within ${seconds} s; last seen: ${String(last)}`);
}
