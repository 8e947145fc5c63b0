import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { RateLimit } from './rate-limit.js';

describe('the limit of calls', () => {
  let at = 0;
  const limit = (perSecond: number) => new RateLimit(perSecond, () => at);
  const takes = (one: RateLimit, many: number, who = 'ann') => Array.from({ length: many }, () => one.take(who));

  it('lets one second’s worth through at once, and then says how long to wait', () => {
    const three = limit(3);
    expect(takes(three, 5)).toEqual([0, 0, 0, 1, 1]);
    at += 1 / 3 + 0.001;
    expect(takes(three, 2)).toEqual([0, 1]);
    at += 60;
    expect(takes(three, 4)).toEqual([0, 0, 0, 1]);
  });

  it('can be less than one call a second', () => {
    const seldom = limit(0.1);
    expect(takes(seldom, 2)).toEqual([0, 10]);
    at += 4;
    expect(takes(seldom, 1)).toEqual([6]);
    at += 6.001;
    expect(takes(seldom, 1)).toEqual([0]);
  });

  it('is each caller’s own', () => {
    const one = limit(1);
    expect([one.take('ann'), one.take('bob'), one.take('ann'), one.take('bob')]).toEqual([0, 0, 1, 1]);
  });

  it('forgets who was silent for longest, so that its memory has an end', () => {
    const one = limit(1);
    for (let index = 0; index < 10_500; index++) one.take(`caller-${index}`);
    expect(one.size).toBe(10_000);
    expect(one.take('caller-10499')).toBe(1);
  });

  it('never lets more through than the rate and one burst, whatever the times', () => {
    fc.assert(
      fc.property(
        fc.double({ min: 0.1, max: 50, noNaN: true }),
        fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 200 }),
        (rate, gaps) => {
          at = 0;
          const one = limit(rate);
          let through = 0;
          for (const gap of gaps) {
            at += gap;
            if (one.take('ann') === 0) through++;
          }
          return through <= Math.max(1, rate) + at * rate + 1e-6;
        },
      ),
    );
  });
});
