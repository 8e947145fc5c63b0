import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { SpreadMatching } from './spread-matching.js';

/** One node at a time: may this role have it, the others still being possible? By Kuhn's algorithm, from nothing each time. */
function slowly(lists: number[][], counts: number[]): number[][] | undefined {
  const used = new Set<number>();
  const left = [...counts];
  if (!possible(lists, left, used)) return undefined;
  return lists.map((list, role) =>
    list.filter((node) => {
      if (left[role] === 0 || used.has(node)) return false;
      used.add(node);
      left[role]! -= 1;
      if (possible(lists, left, used)) return true;
      used.delete(node);
      left[role]! += 1;
      return false;
    }),
  );
}

function possible(lists: number[][], counts: number[], used: ReadonlySet<number>): boolean {
  const owner = new Map<number, number>();
  const place = (role: number, seen: Set<number>): boolean =>
    (lists[role] as number[]).some((node) => {
      if (used.has(node) || seen.has(node)) return false;
      seen.add(node);
      const other = owner.get(node);
      if (other !== undefined && !place(other, seen)) return false;
      owner.set(node, role);
      return true;
    });
  return counts.every((count, role) => Array.from({ length: count }).every(() => place(role, new Set())));
}

/** Nearly as many nodes as are needed, dealt out so that there is an assignment, and a few more wishes per role. */
const tight = fc
  .array(fc.record({ count: fc.integer({ min: 1, max: 3 }), wishes: fc.array(fc.nat(20), { maxLength: 3 }) }), {
    minLength: 2,
    maxLength: 8,
  })
  .chain((roles) => {
    const needed = roles.reduce((sum, { count }) => sum + count, 0);
    const nodes = Array.from({ length: needed + 2 }, (_, node) => node);
    return fc.shuffledSubarray(nodes, { minLength: needed, maxLength: needed }).map((dealt) => ({
      counts: roles.map(({ count }) => count),
      lists: roles.map(({ count, wishes }) =>
        [...new Set([...dealt.splice(0, count), ...wishes.map((wish) => wish % nodes.length)])].sort((a, b) => a - b),
      ),
    }));
  });

describe('SpreadMatching', () => {
  it('frees what a role gives up, for the roles after it', () => {
    const lists = [
      [0, 2],
      [1, 3],
      [0, 1],
      [2, 4],
    ];
    const matching = new SpreadMatching(lists, [1, 1, 1, 1]);
    expect(matching.complete()).toBeUndefined();
    expect(matching.inOrder()).toEqual([[0], [3], [1], [2]]);
  });

  it('says which roles are too many for which nodes', () => {
    const matching = new SpreadMatching([[9], [1, 2], [1, 2], [2, 1]], [1, 1, 1, 2]);
    expect(matching.complete()).toEqual({ at: 3, together: [1, 2, 3], nodes: 2 });
  });

  it('finds the first assignment where there is hardly one', () => {
    fc.assert(
      fc.property(tight, ({ lists, counts }) => {
        const matching = new SpreadMatching(lists, counts);
        expect(matching.complete()).toBeUndefined();
        expect(matching.inOrder()).toEqual(slowly(lists, counts));
      }),
      { numRuns: 2000 },
    );
  });

  it('says there is none exactly where there is none, and proves it', () => {
    fc.assert(
      fc.property(tight, fc.nat(7), ({ lists, counts }, which) => {
        lists[which % lists.length]?.shift();
        const shortage = new SpreadMatching(lists, counts).complete();
        expect(shortage === undefined).toBe(slowly(lists, counts) !== undefined);
        if (shortage === undefined) return;
        const wanted = new Set(shortage.together.flatMap((role) => lists[role] as number[]));
        const needed = shortage.together.reduce((sum, role) => sum + (counts[role] as number), 0);
        expect(wanted.size).toBe(shortage.nodes);
        expect(needed).toBeGreaterThan(shortage.nodes);
      }),
      { numRuns: 1000 },
    );
  });

  it('at the limits of a contract stays within the bound on searches', () => {
    const [roles, count] = [64, 64];
    const range = (from: number, to: number): number[] => Array.from({ length: to - from }, (_, i) => from + i);
    const all = Array.from({ length: roles }, (_, role) => role);
    const shapes = {
      same: all.map(() => range(0, roles * count)),
      nested: all.map((role) => range(0, (roles - role) * count)),
      chain: all.map((role) => range(role * count, Math.min((role + 2) * count, roles * count))),
    };
    for (const lists of Object.values(shapes)) {
      const matching = new SpreadMatching(
        lists,
        all.map(() => count),
      );
      expect(matching.complete()).toBeUndefined();
      const assigned = matching.inOrder();
      expect(new Set(assigned.flat()).size).toBe(roles * count);
      expect(matching.searches).toBeLessThanOrEqual(2 * roles * count + roles * roles);
    }
  });
});
