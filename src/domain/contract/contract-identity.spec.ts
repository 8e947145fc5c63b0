import { describe, expect, it } from '@jest/globals';
import { contractHash, signatureOf, workIdOf } from './contract-identity.js';
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

const build = { as: 'a', capability: 'build' };

describe('signatureOf', () => {
  it('is equal where defaults are written and where they are not', () => {
    expect(signatureOf([{ attrs: {}, count: 1, ...build }], false)).toBe(signatureOf([build]));
  });

  it.each([
    ['count', [{ ...build, count: 2 }], false],
    ['capability', [{ ...build, capability: 'board' }], false],
    ['attrs', [{ ...build, attrs: { arch: 'arm64' } }], false],
    ['spread', [build], true],
    ['another role', [build, { as: 'b', capability: 'build' }], false],
  ])('differs by %s', (_name, requires, spread) => {
    expect(signatureOf(requires, spread)).not.toBe(signatureOf([build]));
    expect(signatureOf(requires, spread)).toMatch(/^[0-9a-f]{64}$/);
  });
});

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
