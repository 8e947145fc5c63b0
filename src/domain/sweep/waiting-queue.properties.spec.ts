import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { RankedFleet } from '../matching/ranked-fleet.js';
import { UnavailableNodes } from '../matching/fleet-use.js';
import type { Advert } from '../matching/fleet.js';
import { type GroupRequirements, offeredTraits, requiredTrait } from './requirement-group.js';
import { type ArrivalKey, isOlder } from './runs-in-order.js';
import { WaitingQueue } from './waiting-queue.js';

const requirementsOf = (role: string): GroupRequirements => ({
  signature: `requires ${role}`,
  requires: [{ as: 'r', capability: 'board', attrs: { role } }],
  spread: false,
});
const ROLES = ['a', 'b', 'c', 'd'];
const board = (node_id: string, role: string): Advert => ({
  node_id,
  label: node_id,
  capabilities: [{ capability: 'board', attrs: { role } }],
  offer_rev: 1,
});

interface Row extends ArrivalKey {
  run_id: string;
  requirements: GroupRequirements;
}

/** Puts and removals: most come last, as they do; some come anywhere, and some are put a second time elsewhere. */
const change = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('arrive' as const), role: fc.constantFrom(...ROLES) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('put' as const),
      role: fc.constantFrom(...ROLES),
      run: fc.nat(60),
      arrived: fc.nat(400),
    }),
  },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('remove' as const), run: fc.nat(400) }) },
);

/** What the queue is compared with: one array, sorted anew each time. */
class PlainQueue {
  rows: Row[] = [];

  put(row: Row): void {
    this.remove(row.run_id);
    this.rows.push(row);
    this.rows.sort((a, b) => (isOlder(a, b) ? -1 : 1));
  }

  remove(runId: string): void {
    this.rows = this.rows.filter(({ run_id }) => run_id !== runId);
  }

  after(key: ArrivalKey, signature?: string): Row | undefined {
    return this.rows.find(
      (row) => isOlder(key, row) && (signature === undefined || row.requirements.signature === signature),
    );
  }
}

function compare(queue: WaitingQueue, plain: PlainQueue, key: ArrivalKey): void {
  expect(queue.depth).toBe(plain.rows.length);
  const ids = (rows: Iterable<{ run_id: string }>): string[] => [...rows].map(({ run_id }) => run_id);
  expect(ids(queue.from({ arrived: 0, seq: 0 }))).toEqual(ids(plain.rows));
  expect(ids(queue.from(key))).toEqual(ids(plain.rows.filter((row) => !isOlder(row, key))));
  expect(ids(queue.page(5))).toEqual(ids(plain.rows.slice(0, 5)));
  for (const at of [key, ...plain.rows.slice(0, 3), ...plain.rows.slice(-3)]) {
    expect(queue.position(at)).toBe(1 + plain.rows.filter((row) => isOlder(row, at)).length);
    expect(ids(queue.page(5, at))).toEqual(ids(plain.rows.filter((row) => isOlder(at, row)).slice(0, 5)));
    for (const role of ROLES) {
      const { signature } = requirementsOf(role);
      const next = queue.nextInGroup({ signature, arrived: at.arrived, seq: at.seq });
      expect(next?.run_id).toBe(plain.after(at, signature)?.run_id);
    }
  }
  for (const group of queue.groups()) {
    const mine = plain.rows.filter((row) => row.requirements.signature === group.signature);
    expect([group.runs.size, group.runs.first?.run_id]).toEqual([mine.length, mine[0]?.run_id]);
    expect(group.runs.countBefore(key)).toBe(mine.filter((row) => isOlder(row, key)).length);
  }
}

describe('the queue in memory', () => {
  it('says what a plain sorted array says, whoever comes and goes', () => {
    fc.assert(
      fc.property(
        fc.array(change, { maxLength: 80, size: 'max' }),
        fc.nat(400),
        fc.nat(80),
        (changes, arrived, seq) => {
          const [queue, plain] = [new WaitingQueue(), new PlainQueue()];
          for (const [index, one] of changes.entries()) {
            const run_id = one.kind === 'arrive' ? `run${index}` : `run${one.run}`;
            if (one.kind === 'remove') {
              queue.remove(run_id);
              plain.remove(run_id);
              continue;
            }
            const key = { arrived: one.kind === 'arrive' ? 300 + (index >>> 1) : one.arrived, seq: index };
            queue.put({ run_id, ...key, serverSteps: true }, requirementsOf(one.role));
            plain.put({ run_id, ...key, requirements: requirementsOf(one.role) });
          }
          compare(queue, plain, { arrived, seq });
        },
      ),
      { numRuns: 200 },
    );
  });

  it('says so of thousands, which come in order, leave from the front, and come and go in the middle', () => {
    const [queue, plain] = [new WaitingQueue(), new PlainQueue()];
    const put = (index: number, arrived: number): void => {
      const row = { run_id: `run${index}`, arrived, seq: index, requirements: requirementsOf(ROLES[index % 4]!) };
      queue.put({ ...row, serverSteps: false }, row.requirements);
      plain.rows.push(row);
    };
    for (let index = 0; index < 4000; index++) put(index, 10 * index);
    for (let index = 4000; index < 6000; index++) put(index, 20_000 + ((index * 7919) % 3000));
    for (let index = 6000; index < 7000; index++) put(index, 5);
    plain.rows.sort((a, b) => (isOlder(a, b) ? -1 : 1));
    const leave = (which: (row: Row, index: number) => boolean): void => {
      for (const { run_id } of plain.rows.filter(which)) queue.remove(run_id);
      plain.rows = plain.rows.filter((row, index) => !which(row, index));
    };
    compare(queue, plain, { arrived: 21_500, seq: 5000 });
    leave((_, index) => index < 1500);
    compare(queue, plain, { arrived: 21_500, seq: 5000 });
    leave((row) => row.seq % 3 > 0);
    compare(queue, plain, { arrived: 22_222, seq: 0 });
    leave(() => true);
    compare(queue, plain, { arrived: 0, seq: 0 });
    expect([...queue.groups()]).toEqual([]);
  });

  it.each([3, 101, 150])('gives the oldest run of each group that %d free nodes may be of use to', (count) => {
    const queue = new WaitingQueue();
    for (let index = 0; index < 40; index++) {
      queue.put(
        { run_id: `run${index}`, arrived: index, seq: index, serverSteps: true },
        requirementsOf(ROLES[index % 4]!),
      );
    }
    const fleet = RankedFleet.of([
      ...Array.from({ length: count }, (_, index) => board(`n${index}`, ROLES[index % 2]!)),
      board('busy', 'd'),
    ]);
    const unavailable = UnavailableNodes.of(fleet, new Set(['busy']));
    const traits = new Set(fleet.adverts.filter(({ node_id }) => node_id !== 'busy').flatMap(offeredTraits));
    const wanted = ROLES.map(requirementsOf).filter(({ requires }) => traits.has(requiredTrait(requires)));

    const groups = queue.oldestOfEachGroup(unavailable);

    const found = groups.map(({ signature, oldest }) => [signature, oldest.run_id]).sort();
    // Of many free nodes it is not asked what they offer.
    const expected = count > 100 ? ROLES.map(requirementsOf) : wanted;
    expect(found).toEqual(expected.map(({ signature }, index) => [signature, `run${index}`]));
    expect(
      queue.oldestOfEachGroup(UnavailableNodes.of(fleet, new Set(fleet.adverts.map(({ node_id }) => node_id)))),
    ).toEqual([]);
  });

  it('leaves the groups it has given as they are', () => {
    const queue = new WaitingQueue();
    for (const [index, run_id] of ['first', 'second'].entries()) {
      queue.put({ run_id, arrived: index, seq: index, serverSteps: true }, requirementsOf('a'));
    }
    const groups = queue.oldestOfEachGroup(UnavailableNodes.of(RankedFleet.of([board('n', 'a')]), new Set()));
    queue.remove('first');
    expect(groups.map(({ oldest }) => oldest.run_id)).toEqual(['first']);
  });
});
