import { describe, expect, it } from '@jest/globals';
import type { Requirement } from '../contract/contract.js';
import type { Advert, CapabilityEntry } from './fleet.js';
import { match, tooWide } from './match.js';

const node = (node_id: string, ...capabilities: CapabilityEntry[]): Advert => ({
  node_id,
  label: `label of ${node_id}`,
  offer_rev: 7,
  capabilities,
});
const has = (capability: string, attrs?: Record<string, string>): CapabilityEntry => ({ capability, attrs });
const role = (as: string, capability: string, more: Partial<Requirement> = {}): Requirement => ({
  as,
  capability,
  ...more,
});
const FREE = new Set<string>();

/** `role:node,node role:node`, or the kind and the role. */
function found(requires: Requirement[], adverts: Advert[], unavailable = FREE, spread = false): string {
  const result = match(requires, spread, adverts, unavailable);
  if (result.kind !== 'matched') return `${result.kind} ${result.as}`;
  return result.assigned.map(({ as, nodes }) => `${as}:${nodes.map((one) => one.node_id).join()}`).join(' ');
}

describe('match', () => {
  it('1. says unsatisfiable where fewer live nodes than wanted fit, unavailable ones included', () => {
    const fleet = [node('n1', has('x')), node('n2', has('x'))];
    expect(found([role('a', 'x', { count: 3 })], fleet)).toBe('unsatisfiable a');
    expect(found([role('a', 'x', { count: 2 })], fleet, new Set(['n1', 'n2']))).toBe('busy a');
    expect(found([role('a', 'z')], [])).toBe('unsatisfiable a');
  });

  it('1. lets a permanent fault win over a temporary one named earlier', () => {
    const fleet = [node('n1', has('x'))];
    expect(found([role('a', 'x'), role('b', 'z')], fleet, new Set(['n1']))).toBe('unsatisfiable b');
  });

  it('1. with spread: where no assignment exists even if every node were free', () => {
    const fleet = [node('n1', has('x'), has('y'))];
    const requires = [role('a', 'x'), role('b', 'y')];
    expect(found(requires, fleet, FREE, true)).toBe('unsatisfiable b');
    expect(found(requires, fleet, new Set(['n1']), true)).toBe('unsatisfiable b');
    expect(found(requires, [...fleet, node('n2', has('y'))], new Set(['n2']), true)).toBe('busy b');
  });

  it('2. takes only what is not unavailable', () => {
    const fleet = [node('n1', has('x')), node('n2', has('x'))];
    expect(found([role('a', 'x')], fleet, new Set(['n1']))).toBe('a:n2');
    expect(found([role('a', 'x', { count: 2 })], fleet, new Set(['n1']))).toBe('busy a');
  });

  it('3. takes the least special node, then the first by node_id', () => {
    const fleet = [node('a', has('x', { k: '1' })), node('c', has('x')), node('b', has('x'), has('y'))];
    expect(found([role('r', 'x')], fleet)).toBe('r:b');
    expect(found([role('r', 'x', { count: 3 })], fleet)).toBe('r:b,c,a');
  });

  it('4. lets one node serve several roles, unless spread', () => {
    const fleet = [node('n1', has('x'), has('y')), node('n2', has('y', { k: '1' }))];
    expect(found([role('a', 'x'), role('b', 'y')], fleet)).toBe('a:n1 b:n1');
    expect(found([role('a', 'x'), role('b', 'y')], fleet, FREE, true)).toBe('a:n1 b:n2');
  });

  it('4. with spread: gives up a preferred node only as far as the others must have it', () => {
    const fleet = [node('n1', has('x'), has('y')), node('n2', has('x')), node('n3', has('x'))];
    expect(found([role('a', 'x', { count: 2 }), role('b', 'y')], fleet, FREE, true)).toBe('a:n2,n3 b:n1');
    const chain = [node('n1', has('a'), has('b')), node('n2', has('b'), has('c')), node('n3', has('c', { k: '1' }))];
    expect(found([role('a', 'a'), role('b', 'b'), role('c', 'c')], chain, FREE, true)).toBe('a:n1 b:n2 c:n3');
  });

  it('names the node that node_id names', () => {
    const fleet = [node('n1', has('x')), node('n2', has('x', { k: '1' }))];
    expect(found([role('a', 'x', { attrs: { node_id: 'n2' } })], fleet)).toBe('a:n2');
    expect(found([role('a', 'x', { attrs: { node_id: 'n3' } })], fleet)).toBe('unsatisfiable a');
    expect(found([role('a', 'x', { attrs: { node_id: 'n2' }, count: 2 })], fleet)).toBe('unsatisfiable a');
  });

  it('lists each distinct node once, by node_id, with its offer and its roles', () => {
    const fleet = [node('n2', has('x'), has('y')), node('n1', has('z', { k: '1' }))];
    const result = match([role('a', 'x'), role('b', 'z'), role('c', 'y')], false, fleet, FREE);
    expect(result).toEqual({
      kind: 'matched',
      assigned: [
        { as: 'a', nodes: [{ node_id: 'n2', label: 'label of n2' }] },
        { as: 'b', nodes: [{ node_id: 'n1', label: 'label of n1' }] },
        { as: 'c', nodes: [{ node_id: 'n2', label: 'label of n2' }] },
      ],
      nodes: [
        { node_id: 'n1', offer_rev: 7, roles: ['b'] },
        { node_id: 'n2', offer_rev: 7, roles: ['a', 'c'] },
      ],
    });
  });

  describe('says in a sentence', () => {
    const fleet = [node('n1', has('x', { k: '1' })), node('n2', has('x', { k: '1' }))];
    const detail = (requires: Requirement[], unavailable = FREE, spread = false, adverts = fleet): unknown => {
      const result = match(requires, spread, adverts, unavailable);
      return 'detail' in result ? result.detail : result;
    };

    it('what does not exist', () => {
      expect(detail([role('dut', 'x', { count: 3, attrs: { k: '1' } })])).toBe(
        'Role "dut" needs 3 nodes that offer x with k="1"; only 2 live nodes do.',
      );
      expect(detail([role('dut', 'x', { attrs: { k: '2', node_id: 'n9' } })])).toBe(
        'Role "dut" needs 1 node named "n9" that offers x with k="2"; no live node does.',
      );
    });

    it('what is not free', () => {
      expect(detail([role('dut', 'x', { count: 2 })], new Set(['n2']))).toBe(
        'Role "dut" needs 2 nodes that offer x; 2 live nodes do, only 1 of them free.',
      );
      expect(detail([role('dut', 'x')], new Set(['n1', 'n2']))).toBe(
        'Role "dut" needs 1 node that offers x; 2 live nodes do, none of them free.',
      );
    });

    it('which roles of a spread run compete', () => {
      const requires = [role('z', 'y'), role('a', 'x'), role('b', 'x', { count: 2 })];
      const adverts = [...fleet, node('n3', has('y'))];
      expect(detail(requires, FREE, true, adverts)).toBe(
        'Role "a" needs 1 node that offers x and role "b" needs 2 nodes that offer x, each on nodes of its own, 3 in all; only 2 live nodes would do.',
      );
    });

    it('a few attributes and roles of many', () => {
      const attrs = Object.fromEntries(Array.from({ length: 11 }, (_, i) => [`k${i}`, '1']));
      expect(detail([role('a', 'x', { attrs })])).toMatch(/k7="1" and 3 more; no live node does\.$/);
      const many = Array.from({ length: 7 }, (_, i) => role(`r${i}`, 'x'));
      expect(detail(many, FREE, true)).toMatch(
        /^Role "r0" .* and role "r2" .*, each on nodes of its own, 3 in all; only 2/,
      );
    });
  });
});

describe('the width of a run', () => {
  it('is judged by the cap, and 0 is none', () => {
    expect(tooWide(2, 2)).toBe(false);
    expect(tooWide(3, 2)).toBe(true);
    expect(tooWide(1000, 0)).toBe(false);
  });
});
