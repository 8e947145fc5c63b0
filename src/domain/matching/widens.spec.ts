import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { CapabilityEntry } from './fleet.js';
import { satisfies } from './satisfies.js';
import { widens } from './widens.js';

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
