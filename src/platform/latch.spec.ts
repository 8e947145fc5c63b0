import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { Latch } from './latch.js';

interface Run<Item, Answer> {
  items: Item[];
  end: (answers: Answer[]) => void;
  fail: (error: Error) => void;
}

/** A latch whose runs end when the test says so. */
function held<Item, Answer>(most?: number): { latch: Latch<Item, Answer>; runs: Run<Item, Answer>[] } {
  const runs: Run<Item, Answer>[] = [];
  const latch = new Latch<Item, Answer>((items) => new Promise((end, fail) => runs.push({ items, end, fail })), most);
  return { latch, runs };
}

const turn = (): Promise<void> => new Promise(setImmediate);

describe('a latch', () => {
  it('runs at once for whoever comes first: before any timer, and before the loop turns', async () => {
    const { latch, runs } = held<string, string>();
    const answer = latch.enter('a');
    await Promise.resolve();
    await Promise.resolve();
    expect(runs.map(({ items }) => items)).toEqual([['a']]);
    runs[0]!.end(['A']);
    expect(await answer).toBe('A');
  });

  it('serves by one run all that arrive in the same turn, in their order, and gives each its own answer', async () => {
    const { latch, runs } = held<string, string>();
    const answers = ['a', 'b', 'c'].map((item) => latch.enter(item));
    await turn();
    expect(runs.map(({ items }) => items)).toEqual([['a', 'b', 'c']]);
    runs[0]!.end(['A', 'B', 'C']);
    expect(await Promise.all(answers)).toEqual(['A', 'B', 'C']);
  });

  it('serves by one further run all that arrive during a run, and begins it when that has ended', async () => {
    const { latch, runs } = held<string, string>();
    const first = latch.enter('a');
    await turn();
    const others = [latch.enter('b')];
    await turn();
    others.push(latch.enter('c'));
    await turn();
    expect(runs).toHaveLength(1);
    runs[0]!.end(['A']);
    expect(await first).toBe('A');
    await turn();
    expect(runs.map(({ items }) => items)).toEqual([['a'], ['b', 'c']]);
    runs[1]!.end(['B', 'C']);
    expect(await Promise.all(others)).toEqual(['B', 'C']);
    await turn();
    expect(runs).toHaveLength(2);
  });

  it('takes into the next run whoever comes back as soon as it was answered', async () => {
    const { latch, runs } = held<string, string>();
    const again = latch.enter('a').then(() => latch.enter('a again'));
    await turn();
    const other = latch.enter('b');
    runs[0]!.end(['A']);
    await turn();
    expect(runs.map(({ items }) => items)).toEqual([['a'], ['b', 'a again']]);
    runs[1]!.end(['B', 'AA']);
    expect(await Promise.all([again, other])).toEqual(['AA', 'B']);
  });

  it('serves no more at a time than it may, the rest behind them in their order', async () => {
    const { latch, runs } = held<number, number>(2);
    const answers = [1, 2, 3, 4, 5].map((item) => latch.enter(item));
    for (let made = 0; made < 3; made++) {
      await turn();
      expect(runs).toHaveLength(made + 1);
      runs[made]!.end(runs[made]!.items.map((item) => -item));
    }
    expect(await Promise.all(answers)).toEqual([-1, -2, -3, -4, -5]);
    expect(runs.map(({ items }) => items)).toEqual([[1, 2], [3, 4], [5]]);
  });

  it('gives the error of a run to those whom it served and to nobody else, and goes on', async () => {
    const { latch, runs } = held<string, string>();
    const failing = [latch.enter('a'), latch.enter('b')];
    await turn();
    const waiting = latch.enter('c');
    runs[0]!.fail(new Error('forced'));
    expect(await Promise.allSettled(failing)).toEqual(
      failing.map(() => ({ status: 'rejected', reason: new Error('forced') })),
    );
    await turn();
    runs[1]!.end(['C']);
    expect(await waiting).toBe('C');
    const later = latch.enter('d');
    await turn();
    runs[2]!.end(['D']);
    expect(await later).toBe('D');
  });

  it('takes an error that is thrown before anything is waited for like any other', async () => {
    const latch = new Latch<void, string>(() => {
      throw new Error('forced');
    });
    await expect(latch.enter()).rejects.toThrow('forced');
    await expect(latch.enter()).rejects.toThrow('forced');
  });

  it('answers nobody where a run gives not as many answers as it got items', async () => {
    const latch = new Latch<string, string>(() => Promise.resolve(['A']));
    const answers = [latch.enter('a'), latch.enter('b')];
    for (const answer of answers) await expect(answer).rejects.toThrow('a run for 2 items gave 1 answers');
  });

  it('is idle when the last run has ended, those among them that somebody waits for', async () => {
    const { latch, runs } = held<string, string>();
    await latch.idle();
    const answers = [latch.enter('a')];
    await turn();
    answers.push(latch.enter('b'));
    let idle = false;
    const ended = latch.idle().then(() => (idle = true));
    runs[0]!.end(['A']);
    await turn();
    expect([idle, runs.length]).toEqual([false, 2]);
    runs[1]!.fail(new Error('forced'));
    await expect(answers[1]).rejects.toThrow('forced');
    await ended;
    expect(await answers[0]).toBe('A');
  });

  it('shares one answer, or one error, where its runs give one', async () => {
    let runs = 0;
    const latch = Latch.shared<number, string>((items) => {
      runs += 1;
      return runs === 1 ? Promise.resolve(items.join(' ')) : Promise.reject(new Error('forced'));
    });
    expect(await Promise.all([latch.enter(1), latch.enter(2)])).toEqual(['1 2', '1 2']);
    const failing = [latch.enter(3), latch.enter(4)];
    for (const answer of failing) await expect(answer).rejects.toThrow('forced');
    expect(runs).toBe(2);
  });

  it('never runs twice at a time, serves each once, in order, by a run that began after it came', async () => {
    const delays = fc.array(fc.record({ item: fc.nat(5), run: fc.nat(5) }), { minLength: 1, maxLength: 20 });
    await fc.assert(
      fc.asyncProperty(delays, fc.constantFrom(1, 3, Infinity), async (steps, most) => {
        const wait = async (turns: number): Promise<void> => {
          for (let left = turns; left > 0; left--) await turn();
        };
        let running = 0;
        let clock = 0;
        const served: number[] = [];
        const latch = new Latch<number, { began: number; item: number }>(async (items) => {
          const began = ++clock;
          expect(++running).toBe(1);
          expect(items.length).toBeLessThanOrEqual(most);
          served.push(...items);
          await wait(steps[items[0]!]!.run);
          running -= 1;
          return items.map((item) => ({ began, item }));
        }, most);
        const calls: Promise<void>[] = [];
        for (const [item, step] of steps.entries()) {
          await wait(step.item);
          const came = ++clock;
          calls.push(
            latch.enter(item).then((answer) => {
              expect(answer.item).toBe(item);
              expect(answer.began).toBeGreaterThan(came);
            }),
          );
        }
        await Promise.all(calls);
        await latch.idle();
        expect(served).toEqual(steps.map((_, item) => item));
      }),
      { numRuns: 60 },
    );
  });
});
