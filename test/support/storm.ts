import { appendFileSync } from 'node:fs';

/*
 * The tests of test/storm try to break the promises by doing much at random. `npm test` does a little of it each time;
 * `npm run test:storm` does far more, and prints a table of what was tried, how often, and what was lost.
 */

/** Where a storm gathers the lines of its table; none outside of a storm. */
const report = process.env.STORM_REPORT;

/** So many in `npm test`, so many in a storm. */
export function tries(inTests: number, inStorm: number): number {
  return report === undefined ? inTests : inStorm;
}

/** A line of the table. */
export interface Tried {
  /** What was done to the server: `killed between two statements`. */
  what: string;
  /** How often. */
  times: number;
  /** How many of the things that were promised (runs, requests, claims) were looked at afterwards. */
  checked: number;
  /** What those are: `runs accepted`. */
  of: string;
  /** How many of them were lost; the test that tells a number above 0 fails as well. */
  lost: number;
}

/** Adds a line to the storm's table; does nothing outside of a storm. */
export function tell(line: Tried): void {
  if (report !== undefined) appendFileSync(report, `${JSON.stringify(line)}\n`);
}
