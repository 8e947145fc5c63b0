import { describe, expect, it } from '@jest/globals';
import type { Advert, CapabilityEntry } from './fleet.js';
import { satisfies } from './satisfies.js';

const node = (...capabilities: CapabilityEntry[]): Advert => ({
  node_id: 'n1',
  label: 'n1',
  offer_rev: 1,
  capabilities,
});
const wants = (capability: string, attrs?: Record<string, string>) => ({ as: 'r', capability, attrs });

describe('satisfies', () => {
  it('wants the capability and every attribute in one entry; more never hurts', () => {
    const board = node({ capability: 'board', attrs: { arch: 'arm64', pmic: 'v2' } });
    expect(satisfies(wants('board'), board)).toBe(true);
    expect(satisfies(wants('board', { arch: 'arm64' }), board)).toBe(true);
    expect(satisfies(wants('board', { arch: 'x86' }), board)).toBe(false);
    expect(satisfies(wants('board', { soc: 'a' }), board)).toBe(false);
    expect(satisfies(wants('bench', { arch: 'arm64' }), board)).toBe(false);
  });

  it('does not add two entries up', () => {
    const two = node({ capability: 'board', attrs: { a: '1' } }, { capability: 'board', attrs: { b: '1' } });
    expect(satisfies(wants('board', { a: '1', b: '1' }), two)).toBe(false);
    expect(satisfies(wants('board', { b: '1' }), two)).toBe(true);
  });

  it('takes node_id for the name of the node, beside the other attributes', () => {
    const board = node({ capability: 'board', attrs: { a: '1' } });
    expect(satisfies(wants('board', { node_id: 'n1', a: '1' }), board)).toBe(true);
    expect(satisfies(wants('board', { node_id: 'n1', a: '2' }), board)).toBe(false);
    expect(satisfies(wants('board', { node_id: 'n2' }), board)).toBe(false);
    expect(satisfies(wants('bench', { node_id: 'n1' }), board)).toBe(false);
  });

  it.each(['constructor', '__proto__', 'hasOwnProperty'])('treats %s as an attribute like any other', (key) => {
    const attrs = JSON.parse(`{"${key}":"1"}`) as Record<string, string>;
    expect(satisfies(wants('board', attrs), node({ capability: 'board' }, { capability: 'board', attrs: {} }))).toBe(
      false,
    );
    expect(satisfies(wants('board', attrs), node({ capability: 'board', attrs }))).toBe(true);
  });
});
