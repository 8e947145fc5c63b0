/** Whether a node takes new runs, and what becomes of its run. */
export const DRAINS = ['', 'graceful', 'at-boundary'] as const;
export type Drain = (typeof DRAINS)[number];

/** An advert is the heartbeat too and is never refused for its drain: a word that is not known counts as none, with a warning. */
export function readDrain(given: unknown): { drain: Drain; warning?: string } {
  const drain = DRAINS.find((word) => word === (given ?? ''));
  if (drain !== undefined) return { drain };
  const shown = (JSON.stringify(given) ?? String(given)).slice(0, 100);
  return {
    drain: '',
    warning: `drain ${shown} is not known and counts as none; it can be "graceful" or "at-boundary"`,
  };
}
