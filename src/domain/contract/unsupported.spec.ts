import { describe, expect, it } from '@jest/globals';
import { unsupportedFaults } from './unsupported.js';
import { EVERYTHING, EXAMPLE } from './valid-contract.fixture.js';

describe('unsupportedFaults', () => {
  it('names every field that is not run yet', () => {
    expect(unsupportedFaults(EXAMPLE).map((fault) => fault.pointer)).toEqual([
      '/steps/0/out',
      '/steps/0/timeout_seconds',
      '/steps/0/release',
      '/steps/1/in',
      '/steps/2/ask',
      '/steps/2/out',
      '/steps/2/schema',
    ]);
    const fields = unsupportedFaults(EVERYTHING).map((fault) => fault.pointer.split('/').at(-1));
    expect([...new Set(fields)].sort()).toEqual(
      ['acquire', 'ask', 'dispatch', 'in', 'loop', 'out', 'produced', 'release', 'schema', 'timeout_seconds'].sort(),
    );
    for (const { detail } of unsupportedFaults(EVERYTHING))
      expect(detail).toMatch(/is valid but this version does not run it yet\.$/);
  });

  it('has nothing against the rest', () => {
    const steps = [{ id: 's', uses: 'a', run: ['true'], needs: [], env: ['PATH'], allow_failure: true }];
    expect(
      unsupportedFaults({ requires: EXAMPLE.requires, steps, success_when: [{ step: 's', exit_code: 3 }] }),
    ).toEqual([]);
  });
});
