import { describe, expect, it } from '@jest/globals';
import { contractHash } from './contract-hash.js';
import { EXAMPLE } from './valid-contract.fixture.js';

describe('contractHash', () => {
  it('is the SHA-256 of the canonical JSON', () => {
    expect(contractHash({})).toBe('44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a');
  });

  it('does not depend on the order of keys, nor on how a number is written', () => {
    expect(contractHash(JSON.parse('{"b":1.0,"a":[1e2]}'))).toBe(contractHash({ a: [100], b: 1 }));
  });

  it('depends on everything else', () => {
    const { run_id: _, ...rest } = EXAMPLE;
    expect(contractHash(rest)).not.toBe(contractHash(EXAMPLE));
    expect(contractHash([1, 2])).not.toBe(contractHash([2, 1]));
  });
});
