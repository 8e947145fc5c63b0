import { expect, it } from '@jest/globals';
import { WHYS } from '../../src/queue/why.js';
import { TESTS } from './program.js';

it('every why that can wake the queue promotes a run in some test, which looks at the why', () => {
  const promotedBy = new Set(
    TESTS.flatMap(({ text }) =>
      [...text.matchAll(/whys(?:: |\)\.toEqual\()\[([^\]]*)\]/g)].flatMap(
        ([, list = '']) => list.match(/[\w-]+/g) ?? [],
      ),
    ),
  );
  expect(WHYS.filter((why) => !promotedBy.has(why))).toEqual([]);
});
