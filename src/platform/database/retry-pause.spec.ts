import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { retryPause } from './retry-pause.js';

describe('the pause before a transaction begins again', () => {
  const attempts = fc.integer({ min: 1, max: 6 });
  const chances = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });

  it('is below 20 ms after the first attempt, and below twice as much after each further one', () => {
    fc.assert(
      fc.property(attempts, chances, (attempt, chance) => {
        const pause = retryPause(attempt, () => chance);
        expect(pause).toBeGreaterThanOrEqual(0);
        expect(pause).toBeLessThan(10 * 2 ** attempt);
      }),
    );
  });

  it('is twice as long after the next attempt, by the same chance', () => {
    fc.assert(
      fc.property(attempts, chances, (attempt, chance) => {
        const [one, next] = [attempt, attempt + 1].map((each) => retryPause(each, () => chance));
        expect(next).toBe(2 * one!);
      }),
    );
  });

  it('is any time below that, as likely as any other', () => {
    expect([0, 0.25, 0.5, 0.75].map((chance) => retryPause(3, () => chance))).toEqual([0, 20, 40, 60]);
    // Two that met would come back together else.
    expect(new Set(Array.from({ length: 20 }, () => retryPause(1))).size).toBeGreaterThan(1);
  });
});
