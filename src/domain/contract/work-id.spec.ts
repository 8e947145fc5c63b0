import { describe, expect, it } from '@jest/globals';
import { EXAMPLE } from './valid-contract.fixture.js';
import { workIdOf } from './work-id.js';

describe('workIdOf', () => {
  it('joins system and change', () => {
    expect(workIdOf(EXAMPLE)).toBe('gerrit:4711');
  });

  it('is null where the contract names neither', () => {
    expect(workIdOf({ ...EXAMPLE, work: { note: 'x' } })).toBeNull();
    const { work: _, ...rest } = EXAMPLE;
    expect(workIdOf(rest)).toBeNull();
  });
});
