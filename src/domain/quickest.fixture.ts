const TRIES = 5;

/**
 * How many milliseconds of the processor the quickest of a few tries takes: what disturbs one of them, a collection of garbage
 * above all, does not disturb every one. What is slow by itself is slow each time.
 */
export function quickest(act: () => unknown): number {
  const times = Array.from({ length: TRIES }, () => {
    const before = process.cpuUsage();
    act();
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1000;
  });
  return Math.min(...times);
}
