import { atFailpoints } from '../../src/platform/failpoints.js';

/** Does something at the n-th passing of a named point (the first unless told otherwise), once. */
export function once(name: string, act: () => Promise<unknown> | unknown, passing = 1): void {
  let passed = 0;
  atFailpoints(async (point) => {
    if (point !== name || ++passed !== passing) return;
    await act();
  });
}

/** Holds whoever passes the named point until let go. */
export function hold(name: string): { reached: Promise<void>; letGo: () => void } {
  let arrive: () => void;
  let letGo: () => void = () => undefined;
  const reached = new Promise<void>((resolve) => (arrive = resolve));
  const released = new Promise<void>((resolve) => (letGo = resolve));
  once(name, async () => {
    arrive();
    await released;
  });
  return { reached, letGo };
}
