import { describe, expect, it } from '@jest/globals';
import { signatureOf } from './signature.js';

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
