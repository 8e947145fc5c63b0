import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { Requirement } from '../contract/contract.js';
import type { Advert } from '../matching/fleet.js';
import { RankedFleet } from '../matching/ranked-fleet.js';
import { satisfies } from '../matching/satisfies.js';
import type { ArrivalKey } from '../sweep/runs-in-order.js';
import { WaitingQueue } from '../sweep/waiting-queue.js';
import { queuePositions, type WaitingRun } from './queue-positions.js';

const node = (node_id: string, ...offered: string[]): Advert => ({
  node_id,
  label: node_id,
  offer_rev: 1,
  capabilities: offered.map((capability) => ({ capability })),
});
const run = (key: ArrivalKey, ...capabilities: string[]): WaitingRun => ({
  ...key,
  signature: capabilities.join(),
  requires: capabilities.map((capability, i): Requirement => ({ as: `r${i}`, capability })),
});
const at = (arrived: number): ArrivalKey => ({ arrived, seq: arrived });

function queueOf(runs: WaitingRun[]): WaitingQueue {
  const queue = new WaitingQueue();
  for (const { signature, requires, ...key } of runs) {
    queue.put({ run_id: `run${key.arrived}`, ...key, serverSteps: true }, { signature, requires, spread: false });
  }
  return queue;
}

const aheads = (runs: WaitingRun[], fleet: Advert[], asked = runs): number[] =>
  queuePositions(queueOf(runs), RankedFleet.of(fleet), asked).map(({ ahead }) => ahead);

describe('the positions of queued runs', () => {
  const fleet = [node('n1', 'x', 'y'), node('n2', 'z')];

  it('count the older runs that could take a node this one could take', () => {
    const older = [['x'], ['y'], ['z'], ['z', 'y'], ['x']].map((words, index) => run(at(index), ...words));
    expect(queuePositions(queueOf(older), RankedFleet.of(fleet), [run(at(9), 'x')])).toEqual([
      { position: 6, ahead: 4 },
    ]);
  });

  it('count nobody where no live node fits', () => {
    expect(aheads([run(at(1), 'w'), run(at(2), 'x')], fleet, [run(at(3), 'w')])).toEqual([0]);
    expect(aheads([run(at(1), 'x')], [], [run(at(2), 'x')])).toEqual([0]);
  });

  it('tell the nodes of a large fleet apart', () => {
    const large = Array.from({ length: 300 }, (_, i) => node(`n${i}`, `only${i}`, i < 200 ? 'some' : 'others'));
    const queue = [
      ...large.map((_, i) => run(at(i), `only${i}`)),
      run(at(300), 'some'),
      run(at(301), 'others'),
      run(at(302), 'some', 'others'),
    ];
    expect(aheads(queue, large)).toEqual([...large.map(() => 0), 200, 100, 302]);
  });

  it('count what comparing every pair over every node counts, for any runs in order', () => {
    const contract = fc.subarray(['w', 'x', 'y', 'z'], { minLength: 1, maxLength: 2 });
    // With and without many that offer the same: sets of many nodes are kept in another way than sets of few.
    const fleets = fc
      .tuple(fc.array(fc.subarray(['x', 'y', 'z']), { maxLength: 20 }), fc.subarray(['x', 'y']))
      .map(([few, same]) => [...few, ...Array<string[]>(same.length > 0 ? 70 : 0).fill(same)])
      .map((offers) => offers.map((offered, i) => node(`n${i}`, ...offered)));
    const runs = fc.array(fc.tuple(contract, fc.boolean(), fc.boolean()), { maxLength: 30 });
    fc.assert(
      fc.property(runs, fleets, (drawn, adverts) => {
        const all = drawn.map(([words, waits, asked], i) => ({ ...run(at(i), ...words), waits, asked }));
        const [waiting, asked] = [all.filter(({ waits }) => waits), all.filter((one) => one.asked)];
        const fits = ({ requires }: WaitingRun, advert: Advert) => requires.some((one) => satisfies(one, advert));
        const expected = asked.map((mine) => {
          const older = waiting.filter(({ arrived }) => arrived < mine.arrived);
          const competing = older.filter((one) => adverts.some((advert) => fits(mine, advert) && fits(one, advert)));
          return { position: older.length + 1, ahead: competing.length };
        });
        expect(queuePositions(queueOf(waiting), RankedFleet.of(adverts), asked)).toEqual(expected);
      }),
    );
  });

  it('are right across a long gap', () => {
    const queue = Array.from({ length: 12_000 }, (_, index) => run(at(index), 'xyz'[index % 3]!));
    const asked = [0, 3, 6001, 6003, 11_999].map((index) => queue[index]!);
    expect(queuePositions(queueOf(queue), RankedFleet.of(fleet), asked)).toEqual([
      { position: 1, ahead: 0 },
      { position: 4, ahead: 2 },
      { position: 6002, ahead: 4001 },
      { position: 6004, ahead: 4002 },
      { position: 12_000, ahead: 3999 },
    ]);
  });
});
