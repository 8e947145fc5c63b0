import { describe, expect, it } from '@jest/globals';
import { BROKEN_CONTRACTS } from './broken-contracts.fixture.js';
import { parseValue } from './json-of.fixture.js';

describe('a contract that breaks one rule', () => {
  it.each(BROKEN_CONTRACTS)('$name', ({ contract, pointer, says }) => {
    expect(parseValue(contract)).toEqual({ ok: false, faults: [{ pointer, detail: expect.stringMatching(says) }] });
  });

  it('has a name of its own', () => {
    expect(new Set(BROKEN_CONTRACTS.map(({ name }) => name)).size).toBe(BROKEN_CONTRACTS.length);
  });

  it('is JSON', () => {
    for (const { contract } of BROKEN_CONTRACTS) expect(JSON.parse(JSON.stringify(contract))).toEqual(contract);
  });
});
