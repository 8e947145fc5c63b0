import { expect, it } from '@jest/globals';
import { SayOnce } from './say-once.js';

it('says a thing when it changes, and then once in half a minute, with how often it was not said', () => {
  let now = 0;
  const once = new SayOnce(() => now);
  const lines: string[] = [];
  const say = (what: string): void => once.say(what, (unsaid) => lines.push(`${what} ${unsaid}`));
  for (const what of ['a', 'a', 'b', 'a']) say(what);
  for (now of [10_000, 20_000, 30_000, 40_000]) say('a');
  once.forget();
  say('a');
  expect(lines).toEqual(['a 0', 'b 0', 'a 0', 'a 2', 'a 0']);
});
