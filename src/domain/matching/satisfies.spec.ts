import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { Advert, CapabilityEntry } from './fleet.js';
import { satisfies, widens } from './satisfies.js';

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

const entry = (capability: string, attrs?: Record<string, string>): CapabilityEntry => ({ capability, attrs });

describe('widens', () => {
  it('is false where less or the same is offered', () => {
    const all = [entry('x', { a: '1', b: '2' }), entry('y')];
    expect(widens(all, all)).toBe(false);
    expect(widens(all, [entry('x', { a: '1' })])).toBe(false);
    expect(widens(all, [entry('x')])).toBe(false);
    expect(widens(all, [])).toBe(false);
  });

  it('is true for a new capability, attribute, value, or two entries made one', () => {
    expect(widens([], [entry('x')])).toBe(true);
    expect(widens([entry('x')], [entry('x'), entry('y')])).toBe(true);
    expect(widens([entry('x', { a: '1' })], [entry('x', { a: '1', b: '1' })])).toBe(true);
    expect(widens([entry('x', { a: '1' })], [entry('x', { a: '2' })])).toBe(true);
    expect(widens([entry('x', { a: '1' }), entry('x', { b: '1' })], [entry('x', { a: '1', b: '1' })])).toBe(true);
  });

  it('takes constructor for an attribute', () => {
    expect(widens([entry('x', {})], [entry('x', { constructor: '1' })])).toBe(true);
  });

  const value = fc.constantFrom('1', '2');
  const attrs = fc.record({ a: value, b: value, c: value }, { requiredKeys: [] });
  const entries = fc.array(fc.record({ capability: fc.constantFrom('x', 'y'), attrs }), { maxLength: 3 });
  const choices = [undefined, '1', '2'];
  const universe = ['x', 'y'].flatMap((capability) =>
    choices.flatMap((a) =>
      choices.flatMap((b) =>
        choices.map((c) => ({
          as: 'r',
          capability,
          attrs: Object.fromEntries(Object.entries({ a, b, c }).filter(([, one]) => one !== undefined)) as Record<
            string,
            string
          >,
        })),
      ),
    ),
  );

  it('holds exactly where some requirement is satisfied that was not', () => {
    fc.assert(
      fc.property(entries, entries, (before, after) => {
        const node = { node_id: 'n', label: 'n', offer_rev: 1 };
        const newly = universe.some(
          (one) =>
            satisfies(one, { ...node, capabilities: after }) && !satisfies(one, { ...node, capabilities: before }),
        );
        expect(widens(before, after)).toBe(newly);
      }),
      { numRuns: 500 },
    );
  });
});
