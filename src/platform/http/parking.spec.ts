import { describe, expect, it } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { DatabaseUnavailable } from '../database/faults.js';
import { readConfig } from '../config/read-config.js';
import { Hints } from '../database/hints.js';
import { Lifecycle } from '../lifecycle.js';
import { Parking } from './parking.js';

describe('a parked call', () => {
  const away = (): never => {
    throw new DatabaseUnavailable(new Error('forced'));
  };

  it.each([
    ['the look for all who wait', [away], []],
    ['its own look', [], [away]],
  ])(
    'misses nothing where the database does not answer %s: it looks again soon, without another notice',
    async (_, looks, attempts) => {
      Logger.overrideLogger(false);
      const hints = new Hints(readConfig({}));
      let thereIsSomething = false;
      const parking = new Parking<string>('steps', new Lifecycle(), { of: (one) => one, most: 10, looking: 10 }, (waiting) => {
        looks.shift()?.();
        return Promise.resolve(waiting);
      });
      parking.open({ hints, on: ['steps'], everySeconds: 3600 });
      try {
        const given = parking.wait('n1', { seconds: 20, gone: new AbortController().signal }, () => {
          if (!thereIsSomething) return Promise.resolve(undefined);
          attempts.shift()?.();
          return Promise.resolve('a step');
        });
        await new Promise(setImmediate);
        thereIsSomething = true;
        hints.ring('steps');
        expect(await given).toBe('a step');
        expect([looks, attempts]).toEqual([[], []]);
      } finally {
        parking.close();
      }
    },
  );
});
