import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { RankedFleet } from '../matching/ranked-fleet.js';
import { TakenNodes } from '../matching/taken-nodes.js';
import type { Advert } from '../matching/fleet.js';
import { isOlder, type Needs, type Place } from './queue-line.js';
import { WaitingQueue } from './waiting-queue.js';
import { offeredThings, wantedThing } from './wanted-thing.js';

const needsOf = (role: string): Needs => ({
  signature: `needs ${role}`,
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

interface Row extends Place {
  run_id: string;
  needs: Needs;
}

/** Puts and removals: most come last, as they do; some come anywhere, and some are put a second time elsewhere. */
const deed = fc.oneof(
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

  after(place: Place, signature?: string): Row | undefined {
    return this.rows.find(
      (row) => isOlder(place, row) && (signature === undefined || row.needs.signature === signature),
    );
  }
}

function compare(queue: WaitingQueue, plain: PlainQueue, place: Place): void {
  expect(queue.depth).toBe(plain.rows.length);
  const ids = (rows: Iterable<{ run_id: string }>): string[] => [...rows].map(({ run_id }) => run_id);
  expect(ids(queue.from({ arrived: 0, seq: 0 }))).toEqual(ids(plain.rows));
  expect(ids(queue.from(place))).toEqual(ids(plain.rows.filter((row) => !isOlder(row, place))));
  expect(ids(queue.page(5))).toEqual(ids(plain.rows.slice(0, 5)));
  for (const at of [place, ...plain.rows.slice(0, 3), ...plain.rows.slice(-3)]) {
    expect(queue.position(at)).toBe(1 + plain.rows.filter((row) => isOlder(row, at)).length);
    expect(ids(queue.page(5, at))).toEqual(ids(plain.rows.filter((row) => isOlder(at, row)).slice(0, 5)));
    for (const role of ROLES) {
      const { signature } = needsOf(role);
      const next = queue.next({ signature, arrived: at.arrived, seq: at.seq });
      expect(next?.run_id).toBe(plain.after(at, signature)?.run_id);
    }
  }
  for (const line of queue.lines()) {
    const mine = plain.rows.filter((row) => row.needs.signature === line.signature);
    expect([line.runs.size, line.runs.first?.run_id]).toEqual([mine.length, mine[0]?.run_id]);
    expect(line.runs.countBefore(place)).toBe(mine.filter((row) => isOlder(row, place)).length);
  }
}

describe('the queue in memory', () => {
  it('says what a plain sorted array says, whoever comes and goes', () => {
    fc.assert(
      fc.property(fc.array(deed, { maxLength: 80, size: 'max' }), fc.nat(400), fc.nat(80), (deeds, arrived, seq) => {
        const [queue, plain] = [new WaitingQueue(), new PlainQueue()];
        for (const [index, one] of deeds.entries()) {
          const run_id = one.kind === 'arrive' ? `run${index}` : `run${one.run}`;
          if (one.kind === 'remove') {
            queue.remove(run_id);
            plain.remove(run_id);
            continue;
          }
          const place = { arrived: one.kind === 'arrive' ? 300 + (index >>> 1) : one.arrived, seq: index };
          queue.put({ run_id, ...place, alone: true }, needsOf(one.role));
          plain.put({ run_id, ...place, needs: needsOf(one.role) });
        }
        compare(queue, plain, { arrived, seq });
      }),
      { numRuns: 200 },
    );
  });

  it('says so of thousands, which come in order, leave at the head, and come and go in the middle', () => {
    const [queue, plain] = [new WaitingQueue(), new PlainQueue()];
    const put = (index: number, arrived: number): void => {
      const row = { run_id: `run${index}`, arrived, seq: index, needs: needsOf(ROLES[index % 4]!) };
      queue.put({ ...row, alone: false }, row.needs);
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
    expect([...queue.lines()]).toEqual([]);
  });

  it.each([3, 101, 150])('gives the heads of the lines that %d free nodes may be of use to', (count) => {
    const queue = new WaitingQueue();
    for (let index = 0; index < 40; index++) {
      queue.put({ run_id: `run${index}`, arrived: index, seq: index, alone: true }, needsOf(ROLES[index % 4]!));
    }
    const fleet = RankedFleet.of([
      ...Array.from({ length: count }, (_, index) => board(`n${index}`, ROLES[index % 2]!)),
      board('busy', 'd'),
    ]);
    const taken = TakenNodes.of(fleet, new Set(['busy']));
    const things = new Set(fleet.adverts.filter(({ node_id }) => node_id !== 'busy').flatMap(offeredThings));
    const wanted = ROLES.map(needsOf).filter(({ requires }) => things.has(wantedThing(requires)));

    const heads = queue.heads(taken);

    const found = heads.map(({ signature, head }) => [signature, head.run_id]).sort();
    // Of many free nodes it is not asked what they offer.
    const expected = count > 100 ? ROLES.map(needsOf) : wanted;
    expect(found).toEqual(expected.map(({ signature }, index) => [signature, `run${index}`]));
    expect(queue.heads(TakenNodes.of(fleet, new Set(fleet.adverts.map(({ node_id }) => node_id))))).toEqual([]);
  });

  it('leaves the heads it has given as they are', () => {
    const queue = new WaitingQueue();
    for (const [index, run_id] of ['first', 'second'].entries()) {
      queue.put({ run_id, arrived: index, seq: index, alone: true }, needsOf('a'));
    }
    const heads = queue.heads(TakenNodes.of(RankedFleet.of([board('n', 'a')]), new Set()));
    queue.remove('first');
    expect(heads.map(({ head }) => head.run_id)).toEqual(['first']);
  });
});
