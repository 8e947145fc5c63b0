import { describe, expect, it } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { DatabaseUnavailable } from '../sessions/faults.js';
import { readConfig } from '../config/read-config.js';
import { Notifier } from '../notifier/notifier.js';
import { Lifecycle } from '../lifecycle.js';
import { Parking } from './parking.js';

describe('a parked call', () => {
  const away = (): never => {
    throw new DatabaseUnavailable(new Error('forced'));
  };

  it('is notified alone where there is one thing; where it leaves without it, the next is notified', async () => {
    const notifier = new Notifier(readConfig({}));
    const bounds = { of: () => 'the node', most: 10, looking: 10 };
    const oldest = (waiting: number[]): Promise<number[]> => Promise.resolve(waiting.slice(0, 1));
    const parking = new Parking<number>('steps', new Lifecycle(), bounds, oldest);
    parking.open({ notifier, on: ['steps'], everySeconds: 3600 });
    const looks: number[] = [];
    let ready = false;
    const clients = [0, 1, 2].map(() => new AbortController());
    const calls = clients.map((client, number) =>
      parking.wait(number, { seconds: 20, gone: client.signal }, () => {
        looks.push(number);
        if (ready && number === 0) client.abort();
        return Promise.resolve(ready && number === 1 ? 'the step' : undefined);
      }),
    );
    try {
      await new Promise(setImmediate);
      expect(looks.splice(0)).toEqual([0, 1, 2]);
      ready = true;
      notifier.notify('steps');
      expect(await calls[1]).toBe('the step');
      expect(await calls[0]).toBeUndefined();
      await new Promise(setImmediate);
      expect(looks.slice(0, 2)).toEqual([0, 1]);
    } finally {
      clients.forEach((client) => client.abort());
      parking.close();
    }
    expect(await calls[2]).toBeUndefined();
  });

  it('is notified where the one that was to be notified has left during the query', async () => {
    const notifier = new Notifier(readConfig({}));
    const bounds = { of: () => 'the node', most: 10, looking: 10 };
    const asked: number[][] = [];
    let answer: () => void = () => undefined;
    const parking = new Parking<number>('steps', new Lifecycle(), bounds, async (waiting) => {
      asked.push(waiting);
      if (asked.length === 1) await new Promise<void>((resolve) => (answer = resolve));
      return waiting.slice(0, 1);
    });
    parking.open({ notifier, on: ['steps'], everySeconds: 3600 });
    const clients = [0, 1].map(() => new AbortController());
    let ready = false;
    const calls = clients.map((client, number) =>
      parking.wait(number, { seconds: 20, gone: client.signal }, () =>
        Promise.resolve(ready && number === 1 ? 'the step' : undefined),
      ),
    );
    try {
      await new Promise(setImmediate);
      ready = true;
      notifier.notify('steps');
      clients[0]!.abort();
      expect(await calls[0]).toBeUndefined();
      answer();
      await new Promise(setImmediate);
      expect(asked).toEqual([[0, 1], [1]]);
      expect(await calls[1]).toBe('the step');
    } finally {
      clients.forEach((client) => client.abort());
      parking.close();
    }
  });

  it('looks in its turn, also where those before it were displaced and the newest has left', async () => {
    const bounds = { of: () => 'the node', most: 10, looking: 1, replaces: () => true };
    const parking = new Parking<string>('steps', new Lifecycle(), bounds, () => Promise.resolve([]));
    const ends: (() => void)[] = [];
    const call = (name: string, client: AbortController): Promise<string | undefined> =>
      parking.wait(name, { seconds: 20, gone: client.signal }, async () => {
        await new Promise<void>((end) => ends.push(end));
        return name;
      });
    const [stays, leaves] = [new AbortController(), new AbortController()];
    const [first, second] = [call('a', stays), call('b', leaves)];
    leaves.abort();
    expect(await second).toBeUndefined();
    const third = call('c', stays);
    await new Promise(setImmediate);
    expect(ends).toHaveLength(1);
    ends[0]!();
    expect(await first).toBe('a');
    await new Promise(setImmediate);
    ends[1]!();
    expect(await third).toBe('c');
  });

  it('ends the one that it stands in for, and the oldest where too many wait or are in line', async () => {
    const bounds = { of: () => 'the node', most: 2, looking: 1, replaces: (a: string, b: string) => a === b };
    const parking = new Parking<string>('steps', new Lifecycle(), bounds, () => Promise.resolve([]));
    const client = new AbortController();
    const looks: string[] = [];
    const call = (name: string): Promise<string | undefined> =>
      parking.wait(name, { seconds: 20, gone: client.signal }, () => {
        looks.push(name);
        return Promise.resolve(undefined);
      });
    const [first, again, other, third] = [call('a'), call('a'), call('b'), call('c')];
    expect(await first).toBeUndefined();
    expect(await again).toBeUndefined();
    await new Promise(setImmediate);
    expect(parking.size).toBe(2);
    // The line is as long as so many may wait: the second of `a` has left it for `c`.
    expect(looks).toEqual(['a', 'b', 'c']);
    client.abort();
    expect(await Promise.all([other, third])).toEqual([undefined, undefined]);
  });

  it.each([
    ['the look for all who wait', [away], []],
    ['its own look', [], [away]],
  ])(
    'misses nothing where the database does not answer %s: it looks again soon, without another notification',
    async (_, looks, attempts) => {
      Logger.overrideLogger(false);
      const notifier = new Notifier(readConfig({}));
      let thereIsSomething = false;
      const parking = new Parking<string>(
        'steps',
        new Lifecycle(),
        { of: (one) => one, most: 10, looking: 10 },
        (waiting) => {
          looks.shift()?.();
          return Promise.resolve(waiting);
        },
      );
      parking.open({ notifier, on: ['steps'], everySeconds: 3600 });
      try {
        const given = parking.wait('n1', { seconds: 20, gone: new AbortController().signal }, () => {
          if (!thereIsSomething) return Promise.resolve(undefined);
          attempts.shift()?.();
          return Promise.resolve('a step');
        });
        await new Promise(setImmediate);
        thereIsSomething = true;
        notifier.notify('steps');
        expect(await given).toBe('a step');
        expect([looks, attempts]).toEqual([[], []]);
      } finally {
        parking.close();
      }
    },
  );
});
