import { atFailpoints } from '../../src/platform/failpoints.js';

/**
 * Lets nobody pass the named point until so many have come to it; then does something, and lets all of them go. Whoever
 * comes later, `act` itself included, passes at once.
 */
export function barrier(name: string, count: number, act: () => Promise<unknown> | unknown = () => undefined): void {
  let arrived = 0;
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  atFailpoints(async (point) => {
    if (point !== name || ++arrived > count) return;
    if (arrived === count) {
      await act();
      open();
    }
    await opened;
  });
}
