import { expect, it } from '@jest/globals';
import type { Queryable } from '../platform/database/queryable.js';
import { Readiness } from './readiness.js';

it('asks the database once for all who ask meanwhile, and anew for whoever asks afterwards', async () => {
  const answers: (() => void)[] = [];
  const ask = (): Promise<void> => new Promise((answer) => answers.push(answer));
  const database = { ask: ask as Queryable['ask'] };
  const readiness = new Readiness(database);
  const many = Array.from({ length: 1000 }, () => readiness.trouble());
  expect(answers).toHaveLength(1);
  answers[0]!();
  expect(new Set(await Promise.all(many))).toEqual(new Set([undefined]));
  const later = readiness.trouble();
  expect(answers).toHaveLength(2);
  answers[1]!();
  expect(await later).toBeUndefined();
});
