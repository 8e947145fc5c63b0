import { describe, expect, it } from '@jest/globals';
import { AtMostEvery } from './at-most-every.js';

describe('a look that is shared', () => {
  let now = 0;
  const pace = { everySeconds: 5, waitSeconds: 60 };

  /** Looks that end when they are told to. */
  function looks(waitSeconds = pace.waitSeconds) {
    const begun: { resolve: (found: string) => void; reject: (error: Error) => void }[] = [];
    const look = () => new Promise<string>((resolve, reject) => begun.push({ resolve, reject }));
    return { begun, shared: new AtMostEvery(look, { ...pace, waitSeconds }, () => now) };
  }

  it('is made once, however many ask while it is under way or within its time', async () => {
    const { begun, shared } = looks();
    const first = Array.from({ length: 100 }, () => shared.latest());
    await Promise.resolve();
    expect(begun).toHaveLength(1);
    begun[0]!.resolve('one');
    expect(new Set(await Promise.all(first))).toEqual(new Set(['one']));
    now += 4.9;
    expect(await shared.latest()).toBe('one');
    expect(begun).toHaveLength(1);

    now += 0.1;
    const next = shared.latest();
    await Promise.resolve();
    begun[1]!.resolve('two');
    expect(await next).toBe('two');
  });

  it('is not begun again while it is under way, however long that is', async () => {
    const { begun, shared } = looks();
    const first = shared.latest();
    now += 100;
    const second = shared.latest();
    await Promise.resolve();
    expect(begun).toHaveLength(1);
    begun[0]!.resolve('late');
    expect([await first, await second]).toEqual(['late', 'late']);
  });

  it('finds nothing where it fails, and is not asked again until its time has come', async () => {
    const { begun, shared } = looks();
    const first = shared.latest();
    await Promise.resolve();
    begun[0]!.reject(new Error('away'));
    expect(await first).toBeUndefined();
    expect(await shared.latest()).toBeUndefined();
    expect(begun).toHaveLength(1);
    now += 5;
    const next = shared.latest();
    await Promise.resolve();
    begun[1]!.resolve('back');
    expect(await next).toBe('back');
  });

  it('that does not end is waited for no longer than said, and by who comes after not at all', async () => {
    const { begun, shared } = looks(0.01);
    expect(await shared.latest()).toBeUndefined();
    expect(await shared.latest()).toBeUndefined();
    expect(begun).toHaveLength(1);
    begun[0]!.reject(new Error('broken at last'));
  });
});
