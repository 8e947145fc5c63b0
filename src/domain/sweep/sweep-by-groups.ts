import { matchFree, type Matched, tooWide } from '../matching/match.js';
import type { UnavailableNodes } from '../matching/fleet-use.js';
import type { OldestOfGroup } from './requirement-group.js';
import { type ArrivalKey, isOlder, type QueuedRun } from './runs-in-order.js';

/** What the sweep wants done, one command after the other; each is carried out before it goes on. */
export type SweepCommand =
  /** Promote this run onto these nodes; an `Outcome` comes back. */
  | { kind: 'promote'; run: QueuedRun; onto: Matched }
  /** Log that this run fits the free nodes, and would take more of them than a run may lease; nothing comes back. */
  | { kind: 'log too wide'; run: QueuedRun; onto: Matched };

/** What became of a run that was to be promoted. `holds`: the nodes that it has taken. */
export type Outcome = { kind: 'promoted'; holds: readonly string[] } | { kind: 'passed over' };

/** The oldest run of this signature behind that one, as the queue is when it is asked; undefined: there is none. */
export type NextInGroup = (after: ArrivalKey & Pick<QueuedRun, 'signature'>) => QueuedRun | undefined;

/**
 * One pass over the queue: the runs in order of arrival, each matched against the nodes that are still free. It makes the
 * same promotions in the same order as a look at every run, and looks at the oldest run of each group only: nodes only
 * become fewer during a pass, so a group for which there was no room once has none for the rest of it, and is dropped with
 * all its runs unseen. A run that is too wide is not like that, since it may fit when others have taken what it would; but
 * until something is taken the runs of its group are as wide, and they are passed over as well.
 *
 * Sound because the matcher is: roles are independent, or with `spread` an assignment is found whenever there is one.
 * It goes by arrival, so the queue may change while it is under way: a run that has left is passed over, and one that comes
 * is met if its turn is still to come. Whoever drives it ends it where what was read turns out to be outdated.
 */
export function* sweepByGroups(
  groups: Iterable<OldestOfGroup>,
  nextInGroup: NextInGroup,
  unavailable: UnavailableNodes,
  cap: number,
): Generator<SweepCommand, void, Outcome | undefined> {
  const waiting = new OldestFirst(groups);
  const wide = new Set<OldestOfGroup>();

  for (let group = waiting.take(); group !== undefined; group = waiting.take()) {
    const { requires, spread, oldest: run } = group;
    const onto = matchFree(requires, spread, unavailable.fleet, unavailable, cap);
    if (onto === undefined) continue;
    if (tooWide(onto.nodes.length, cap)) {
      yield { kind: 'log too wide', run, onto };
      wide.add(group);
      continue;
    }
    const outcome = (yield { kind: 'promote', run, onto })!;
    if (outcome.kind === 'promoted') {
      for (const node of outcome.holds) unavailable.add(node);
      for (const other of wide) goOn(other, run);
      wide.clear();
      // Without room for another run of the group there is no need to know which one that would be.
      if (matchFree(requires, spread, unavailable.fleet, unavailable) === undefined) continue;
    }
    goOn(group, run);
  }

  /** Goes on with the oldest run of the group that came after this one. */
  function goOn(group: OldestOfGroup, { arrived, seq }: ArrivalKey): void {
    const next = nextInGroup({ signature: group.signature, arrived, seq });
    if (next !== undefined) waiting.add({ ...group, oldest: next });
  }
}

/** Groups, the one with the oldest run first: a binary heap. */
class OldestFirst {
  readonly #heap: OldestOfGroup[] = [];

  constructor(groups: Iterable<OldestOfGroup>) {
    for (const group of groups) this.add(group);
  }

  take(): OldestOfGroup | undefined {
    const oldest = this.#heap[0];
    const last = this.#heap.pop();
    if (oldest === undefined || last === oldest) return oldest;
    this.#heap[0] = last!;
    this.#sink(0);
    return oldest;
  }

  add(group: OldestOfGroup): void {
    let at = this.#heap.push(group) - 1;
    while (at > 0) {
      const above = (at - 1) >>> 1;
      if (!this.#isBefore(at, above)) return;
      this.#swap(at, above);
      at = above;
    }
  }

  #sink(from: number): void {
    for (let at = from; ;) {
      const [left, right] = [2 * at + 1, 2 * at + 2];
      let oldest = at;
      if (left < this.#heap.length && this.#isBefore(left, oldest)) oldest = left;
      if (right < this.#heap.length && this.#isBefore(right, oldest)) oldest = right;
      if (oldest === at) return;
      this.#swap(at, oldest);
      at = oldest;
    }
  }

  #isBefore(a: number, b: number): boolean {
    return isOlder(this.#heap[a]!.oldest, this.#heap[b]!.oldest);
  }

  #swap(a: number, b: number): void {
    [this.#heap[a], this.#heap[b]] = [this.#heap[b]!, this.#heap[a]!];
  }
}
