import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { PeriodicWorker } from './periodic-worker.js';

describe('a periodic worker', () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  /** A worker whose runs end when the test says so. */
  function held(): { worker: PeriodicWorker; runs: { end: () => void; fail: () => void }[]; errors: unknown[] } {
    const runs: { end: () => void; fail: () => void }[] = [];
    const errors: unknown[] = [];
    const worker = new PeriodicWorker(
      () => new Promise<void>((end, fail) => runs.push({ end, fail: () => fail(new Error('forced')) })),
      (error) => errors.push(error),
    );
    return { worker, runs, errors };
  }

  const pass = (seconds: number): Promise<void> => jest.advanceTimersByTimeAsync(seconds * 1000);

  it('runs at once, and a period after each run has ended', async () => {
    const { worker, runs } = held();
    worker.start({ everySeconds: 10, first: 'at once' });
    await pass(0);
    expect(runs).toHaveLength(1);
    // Longer than a period: nothing overlaps.
    await pass(25);
    expect(runs).toHaveLength(1);
    runs[0]!.end();
    await pass(9.9);
    expect(runs).toHaveLength(1);
    await pass(0.1);
    expect(runs).toHaveLength(2);
    runs[1]!.end();
    await pass(10);
    expect(runs).toHaveLength(3);
  });

  it('begins after a period where it is told so', async () => {
    const { worker, runs } = held();
    worker.start({ everySeconds: 10, first: 'after a period' });
    await pass(9.9);
    expect(runs).toHaveLength(0);
    await pass(0.1);
    expect(runs).toHaveLength(1);
  });

  it('reports an error and goes on, after the period or sooner where it has a shorter pause for that', async () => {
    for (const [afterFailureSeconds, pause] of [
      [undefined, 10],
      [1, 1],
      [60, 10],
    ] as const) {
      const { worker, runs, errors } = held();
      worker.start({ everySeconds: 10, first: 'at once', afterFailureSeconds });
      await pass(0);
      runs[0]!.fail();
      await pass(pause - 0.1);
      expect([runs.length, errors]).toEqual([1, [new Error('forced')]]);
      await pass(0.1);
      expect(runs).toHaveLength(2);
      runs[1]!.end();
      await pass(9.9);
      expect(runs).toHaveLength(2);
      await worker.stop();
    }
  });

  it('runs in between when asked to, once more where it is at work, and counts the period from there', async () => {
    const { worker, runs } = held();
    worker.start({ everySeconds: 10, first: 'after a period' });
    await pass(9);
    worker.now();
    worker.now();
    await pass(0);
    expect(runs).toHaveLength(1);
    worker.now();
    worker.now();
    await pass(0);
    expect(runs).toHaveLength(1);
    runs[0]!.end();
    await pass(0);
    expect(runs).toHaveLength(2);
    runs[1]!.end();
    await pass(9.9);
    expect(runs).toHaveLength(2);
    await pass(0.1);
    expect(runs).toHaveLength(3);
  });

  it('brings the next run forward, never back, however often it is asked', async () => {
    const { worker, runs } = held();
    worker.start({ everySeconds: 10, first: 'after a period' });
    worker.soon(60);
    worker.soon(2);
    await pass(1);
    worker.soon(2);
    await pass(1);
    expect(runs).toHaveLength(1);
    // Asked during a run: the run after it.
    worker.soon(2);
    runs[0]!.end();
    await pass(1.9);
    expect(runs).toHaveLength(1);
    await pass(0.1);
    expect(runs).toHaveLength(2);
  });

  it('begins nothing after a stop, which waits for the run that is under way', async () => {
    const { worker, runs } = held();
    worker.start({ everySeconds: 10, first: 'at once' });
    await pass(0);
    worker.now();
    let stopped = false;
    const stop = worker.stop().then(() => (stopped = true));
    await pass(20);
    expect(stopped).toBe(false);
    runs[0]!.end();
    await stop;
    worker.now();
    worker.soon(1);
    await pass(60);
    expect(runs).toHaveLength(1);
    expect(jest.getTimerCount()).toBe(0);
  });

  it('keeps no process alive', async () => {
    jest.useRealTimers();
    const timers = (): number => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
    const before = timers();
    const { worker } = held();
    worker.start({ everySeconds: 3600, first: 'after a period' });
    expect(timers()).toBe(before);
    await worker.stop();
  });
});
