import { describe, expect, it } from '@jest/globals';
import { BROKEN_CONTRACTS } from './broken-contracts.fixture.js';
import { parseContract } from './parse-contract.js';

describe('a contract that breaks one rule', () => {
  it.each(BROKEN_CONTRACTS)('$name', ({ contract, pointer, says }) => {
    expect(parseContract(contract)).toEqual({ ok: false, faults: [{ pointer, detail: expect.stringMatching(says) }] });
  });

  it('has a name of its own', () => {
    expect(new Set(BROKEN_CONTRACTS.map(({ name }) => name)).size).toBe(BROKEN_CONTRACTS.length);
  });

  it('is JSON', () => {
    for (const { contract } of BROKEN_CONTRACTS) expect(JSON.parse(JSON.stringify(contract))).toEqual(contract);
  });
});
