import { expect, it } from '@jest/globals';
import { TooManyWaiting, Turns } from './turns.js';

/** Things that are begun by the turns and ended by the test. */
function things(turns: Turns) {
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const add = (caller: string, name: string): Promise<string> =>
    turns.take(caller, async () => {
      begun.push(name);
      await new Promise<void>((end) => ends.set(name, end));
      return name;
    });
  const end = async (name: string): Promise<void> => {
    ends.get(name)!();
    await new Promise(setImmediate);
  };
  return { begun, add, end };
}

it('one caller does one thing at a time, and whoever comes later does not wait behind all it has', async () => {
  const { begun, add, end } = things(new Turns({ atOnce: 2, mostWaiting: 10 }));
  const all = [add('mallory', 'm1'), add('mallory', 'm2'), add('mallory', 'm3'), add('ann', 'a1'), add('bob', 'b1')];
  await new Promise(setImmediate);
  expect(begun).toEqual(['m1', 'a1']);
  await end('m1');
  expect(begun).toEqual(['m1', 'a1', 'm2']);
  await end('m2');
  // Bob's turn comes before the next of the same caller.
  expect(begun).toEqual(['m1', 'a1', 'm2', 'b1']);
  await end('b1');
  await end('m3');
  await end('a1');
  expect(await Promise.all(all)).toEqual(['m1', 'm2', 'm3', 'a1', 'b1']);
});

it('what fails gives its turn on', async () => {
  const turns = new Turns({ atOnce: 1, mostWaiting: 10 });
  await expect(turns.take('ann', () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  expect(await turns.take('ann', () => Promise.resolve('yes'))).toBe('yes');
});

it('what is too much of one caller is refused, and at the end nobody waits', async () => {
  const turns = new Turns({ atOnce: 1, mostWaiting: 1 });
  const { add, end } = things(turns);
  const first = add('ann', 'a1');
  const second = add('ann', 'a2');
  await expect(add('ann', 'a3')).rejects.toThrow(TooManyWaiting);
  turns.giveUp(new Error('over'));
  await expect(second).rejects.toThrow('over');
  await end('a1');
  expect(await first).toBe('a1');
});
