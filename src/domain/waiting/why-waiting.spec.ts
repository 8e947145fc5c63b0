import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { Requirement } from '../contract/contract.js';
import type { Advert } from '../matching/fleet.js';
import { ExistingNodes, FleetUse, type Unavailability } from '../matching/fleet-use.js';
import { match } from '../matching/match.js';
import { RankedFleet } from '../matching/ranked-fleet.js';
import type { Holding } from './waiting-role.js';
import { whyWaiting, type WaitingInput } from './why-waiting.js';

const node = (node_id: string, ...offered: string[]): Advert => ({
  node_id,
  label: node_id,
  offer_rev: 1,
  capabilities: offered.map((capability) => ({ capability })),
});
const role = (as: string, capability: string, count?: number): Requirement => ({ as, capability, count });
const holding = (run_id: string): Holding => ({
  run_id,
  principal: 'ann',
  since: '2024-05-01T10:00:00Z',
  not_after: '2024-05-01T10:05:00Z',
});
interface Given extends Omit<WaitingInput, 'use' | 'existing' | 'holdings'> {
  adverts: Advert[];
  busy: Map<string, Holding>;
  draining: Set<string>;
  held: Set<string>;
  /** Not heard of since an outage. */
  revived: Set<string>;
  /** Not live, and remembered. */
  silent: Advert[];
}
const why = (given: Partial<Given>) => {
  const { adverts = [], busy = new Map<string, Holding>(), draining, held, revived, silent = [], ...input } = given;
  const holds = new Map([...(held ?? [])].map((id) => [id, { reason: `${id} is broken`, by: 'olga' }]));
  const useOf = (node: string): Unavailability | undefined => {
    if (busy.has(node)) return 'busy';
    if (draining?.has(node)) return 'draining';
    if (held?.has(node)) return 'held';
    return revived?.has(node) ? 'revived' : undefined;
  };
  const use = FleetUse.of(RankedFleet.of(adverts), useOf, holds);
  const existing = new ExistingNodes(RankedFleet.of(use.fleet, silent));
  return whyWaiting({ requires: [role('a', 'x')], spread: false, cap: 0, ...input, use, existing, holdings: busy });
};

/** What the matcher says now of a run that waits for this reason. BUSY: it may fit, and nobody has looked yet. */
const OUTCOMES = { OFFLINE: ['unsatisfiable'], TOO_WIDE: ['matched'], DRAINING: ['busy'], BUSY: ['busy', 'matched'] };

describe('whyWaiting', () => {
  const pair = [node('n1', 'x'), node('n2', 'x')];

  it('OFFLINE: nothing live fits', () => {
    expect(why({ adverts: [node('n1', 'y')] })).toEqual({
      reason: 'OFFLINE',
      detail: 'Role "a" needs 1 node that offers x; no live node does. It waits until enough such nodes advertise.',
      roles: [{ as: 'a', count: 1, live: 0, free: 0, busy: 0, draining: 0, held: 0, silent: 0, holders: [] }],
    });
  });

  it('OFFLINE wins where another role is only busy', () => {
    const requires = [role('a', 'x'), role('b', 'z')];
    expect(why({ requires, adverts: pair, busy: new Map([['n1', holding('r')]]) }).reason).toBe('OFFLINE');
  });

  it('OFFLINE: silent nodes that would do are counted and named', () => {
    const silent = [node('s2', 'x'), node('s1', 'x'), node('other', 'y')];
    const waiting = why({ requires: [role('a', 'x', 2)], adverts: [node('n1', 'x')], silent });
    expect(waiting).toMatchObject({ reason: 'OFFLINE', roles: [{ live: 1, free: 1, silent: 2 }] });
    expect(waiting.detail).toBe(
      'Role "a" needs 2 nodes that offer x; only 1 live node does. Silent: s1 and s2. It waits until enough such nodes advertise.',
    );
  });

  it('BUSY: names the holders, and counts', () => {
    const busy = new Map([
      ['n1', holding('run-a')],
      ['n2', holding('run-b')],
    ]);
    expect(why({ adverts: pair, busy })).toEqual({
      reason: 'BUSY',
      detail:
        'Role "a" needs 1 node that offers x; 2 live nodes do, none of them free. Leased: n1 to run run-a of ann (until 2024-05-01T10:05:00Z unless renewed) and n2 to run run-b of ann (until 2024-05-01T10:05:00Z unless renewed).',
      roles: [
        {
          as: 'a',
          count: 1,
          live: 2,
          free: 0,
          busy: 2,
          draining: 0,
          held: 0,
          silent: 0,
          holders: [
            { node_id: 'n1', ...holding('run-a') },
            { node_id: 'n2', ...holding('run-b') },
          ],
        },
      ],
    });
  });

  it('BUSY: names a few holders of many', () => {
    const adverts = Array.from({ length: 9 }, (_, i) => node(`n${i}`, 'x'));
    const busy = new Map(adverts.map(({ node_id }) => [node_id, holding('r')]));
    const waiting = why({ adverts, busy });
    expect(waiting.detail).toMatch(/n2 to run r of ann \(until \S+ unless renewed\) and 6 more\.$/);
    expect(waiting.roles[0]?.holders).toHaveLength(9);
  });

  it('BUSY: shows some holders of very many, and counts all', () => {
    const adverts = Array.from({ length: 200 }, (_, i) => node(`n${String(i).padStart(3, '0')}`, 'x'));
    const busy = new Map(adverts.map(({ node_id }) => [node_id, holding('r')]));
    const [{ live, free, holders, ...one }] = why({ adverts, busy, draining: new Set(['n007']) }).roles as [any];
    expect([live, free, one.busy, one.draining]).toEqual([200, 0, 200, 0]);
    expect(holders.map(({ node_id }: any) => node_id)).toEqual(adverts.slice(0, 20).map(({ node_id }) => node_id));
  });

  it('BUSY: a node whose lease is gone when it is read is counted, and has no holder', () => {
    const use = FleetUse.of(RankedFleet.of(pair), () => 'busy');
    const holdings = new Map([['n2', holding('r')]]);
    const waiting = whyWaiting({
      requires: [role('a', 'x')],
      spread: false,
      use,
      existing: new ExistingNodes(use.fleet),
      holdings,
      cap: 0,
    });
    expect(waiting.roles).toMatchObject([{ live: 2, busy: 2, holders: [{ node_id: 'n2' }] }]);
    expect(waiting.detail).toMatch(/Leased: n1 and n2 to run r of ann/);
  });

  it('BUSY: a node that is busy and draining is busy, and counts once', () => {
    const waiting = why({
      adverts: [node('n1', 'x')],
      busy: new Map([['n1', holding('r')]]),
      draining: new Set(['n1']),
    });
    expect(waiting).toMatchObject({ reason: 'BUSY', roles: [{ live: 1, free: 0, busy: 1, draining: 0 }] });
  });

  it('BUSY: a node not heard of since the server came back is live and nothing else', () => {
    const waiting = why({ adverts: [node('n1', 'x')], revived: new Set(['n1']) });
    expect(waiting).toMatchObject({ reason: 'BUSY', roles: [{ live: 1, free: 0, busy: 0, draining: 0 }] });
    expect(waiting.detail).toMatch(/ Not heard from since the server came back: n1\.$/);
  });

  it('BUSY: where only one of two roles is short, its holders alone are named', () => {
    const requires = [role('a', 'x'), role('b', 'y')];
    const adverts = [node('n1', 'x'), node('n2', 'y'), node('n3', 'x')];
    const busy = new Map([
      ['n1', holding('other')],
      ['n2', holding('mine')],
    ]);
    const { detail } = why({ requires, adverts, busy });
    expect(detail).toContain('Leased: n2 to run mine');
    expect(detail).not.toContain('other');
  });

  it('BUSY: of a spread run the holders of all roles that compete', () => {
    const requires = [role('a', 'x'), role('b', 'y')];
    const adverts = [node('n1', 'x', 'y'), node('n2', 'x')];
    const waiting = why({ requires, spread: true, adverts, busy: new Map([['n2', holding('r')]]) });
    expect(waiting.reason).toBe('BUSY');
    expect(waiting.detail).toContain('Leased: n2 to run r');
  });

  it('BUSY: when it would fit now and nobody has looked yet', () => {
    expect(why({ adverts: pair, cap: 1 })).toMatchObject({ reason: 'BUSY', roles: [{ live: 2, free: 2 }] });
  });

  it('DRAINING: it would fit if draining nodes counted as free', () => {
    const draining = new Set(['n1', 'n2']);
    expect(why({ requires: [role('a', 'x', 2)], adverts: pair, draining })).toEqual({
      reason: 'DRAINING',
      detail:
        'Role "a" needs 2 nodes that offer x; 2 live nodes do, none of them free. It would fit if n1 and n2 were not draining.',
      roles: [{ as: 'a', count: 2, live: 2, free: 0, busy: 0, draining: 2, held: 0, silent: 0, holders: [] }],
    });
  });

  it('DRAINING: of the draining nodes those are named that matter, and no others', () => {
    const adverts = [node('a', 'x'), node('b', 'x', 'w'), node('c', 'x', 'y')];
    const draining = new Set(['a', 'c']);
    // Any one and the one named c: b is free for the first.
    const named: Requirement = { as: 'that', capability: 'y', attrs: { node_id: 'c' } };
    for (const requires of [
      [role('any', 'x'), named],
      [named, role('any', 'x')],
    ]) {
      for (const spread of [false, true]) {
        const { reason, detail } = why({ requires, spread, adverts, draining });
        expect(reason).toBe('DRAINING');
        expect(detail).toMatch(/ It would fit if c were not draining\.$/);
      }
    }
    // One that serves both roles is less to ask for than one for each.
    const both = [node('a', 'x'), node('b', 'y'), node('c', 'x', 'y', 'z')];
    const requires = [role('one', 'x'), role('two', 'y')];
    const all = new Set(['a', 'b', 'c']);
    expect(why({ requires, adverts: both, draining: all }).detail).toMatch(/ if c were not draining\.$/);
    expect(why({ requires, spread: true, adverts: both, draining: all }).detail).toMatch(
      / if a and b were not draining\.$/,
    );
  });

  it('DRAINING: held nodes count as free too, and who holds them is named with the reason', () => {
    const waiting = why({
      requires: [role('a', 'x', 2)],
      adverts: pair,
      draining: new Set(['n1']),
      held: new Set(['n2']),
    });
    expect(waiting).toMatchObject({ reason: 'DRAINING', roles: [{ live: 2, free: 0, draining: 1, held: 1 }] });
    expect(waiting.detail).toMatch(
      / It would fit if n1 were not draining and n2 were not held\. n2 is held by olga: "n2 is broken"\.$/,
    );
  });

  it('BUSY: a node that is busy and held is busy, and the detail names the hold', () => {
    const busy = new Map([['n1', holding('r')]]);
    const waiting = why({ adverts: [node('n1', 'x')], busy, held: new Set(['n1']) });
    expect(waiting).toMatchObject({ reason: 'BUSY', roles: [{ live: 1, free: 0, busy: 1, held: 0 }] });
    expect(waiting.detail).toMatch(
      /Leased: n1 to run r of ann \(until \S+ unless renewed\), and held by olga: "n1 is broken"\.$/,
    );
  });

  it('BUSY: a node that drains and is held drains, and the detail names the hold', () => {
    const busy = new Map([['n1', holding('r')]]);
    const both = new Set(['n2']);
    const waiting = why({ requires: [role('a', 'x', 2)], adverts: pair, busy, draining: both, held: both });
    expect(waiting.detail).toMatch(/ Draining: n2, and held by olga: "n2 is broken"\.$/);
  });

  it('BUSY: where it would not be enough', () => {
    const busy = new Map([['n1', holding('r')]]);
    const waiting = why({ requires: [role('a', 'x', 2)], adverts: pair, busy, draining: new Set(['n2']) });
    expect(waiting.reason).toBe('BUSY');
    expect(waiting.detail).toMatch(/Leased: n1 to run r of ann \(until \S+ unless renewed\)\. Draining: n2\.$/);
  });

  it('TOO_WIDE: it fits now, on more nodes than a run may lease', () => {
    const waiting = why({ requires: [role('a', 'x', 2)], adverts: pair, cap: 1 });
    expect(waiting.reason).toBe('TOO_WIDE');
    expect(waiting.detail).toBe('It would take 2 nodes (n1 and n2), but a run may lease at most 1.');
  });

  it('agrees with the matcher, and its counts add up', () => {
    const sets = fc.subarray(['n0', 'n1', 'n2', 'n3', 'n4']).map((ids) => new Set(ids));
    const fleets = fc
      .array(fc.subarray(['x', 'y', 'z'], { minLength: 1 }), { maxLength: 5 })
      .map((offers) => offers.map((offered, i) => node(`n${i}`, ...offered)));
    const contracts = fc
      .array(fc.tuple(fc.constantFrom('x', 'y', 'z'), fc.integer({ min: 1, max: 2 })), { minLength: 1, maxLength: 3 })
      .map((list) => list.map(([capability, count], i) => role(`r${i}`, capability, count)));
    fc.assert(
      fc.property(
        contracts,
        fc.boolean(),
        fleets,
        sets,
        sets,
        sets,
        sets,
        fc.nat(3),
        (requires, spread, adverts, b, d, h, s, cap) => {
          const busy = new Map([...b].map((id) => [id, holding('r')]));
          const waiting = why({ requires, spread, adverts, busy, draining: d, held: h, revived: s, cap });
          const now = match(requires, spread, adverts, new Set([...b, ...d, ...h, ...s]));
          expect(OUTCOMES[waiting.reason]).toContain(now.kind);
          for (const one of waiting.roles) {
            const counted = one.free + one.busy + one.draining + one.held;
            expect(counted).toBeLessThanOrEqual(one.live);
            expect(one.holders.map(({ node_id }) => node_id).every((id) => b.has(id))).toBe(true);
            expect(one.holders).toHaveLength(one.busy);
            expect(s.size > 0 || counted === one.live).toBe(true);
          }
        },
      ),
      { numRuns: 1000 },
    );
  });
});
