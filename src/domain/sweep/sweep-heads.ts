import type { Matched } from '../matching/match-result.js';
import { matchFree } from '../matching/match.js';
import type { TakenNodes } from '../matching/taken-nodes.js';
import { tooWide } from '../matching/width.js';
import { LineHeads } from './line-heads.js';
import type { Place, QueuedRun, QueueLine } from './queue-line.js';

/** What the sweep asks to be done, one after the other; each is answered before it goes on. */
export type Wish =
  /** Promote this run onto these nodes; answered by a `Tried`. */
  | { kind: 'promote'; run: QueuedRun; onto: Matched }
  /** Tell that this run fits the free nodes and would take more of them than a run may lease; nothing is answered. */
  | { kind: 'tell too wide'; run: QueuedRun; onto: Matched };

/** What became of a run that was to be promoted. `holds`: the nodes that it has taken. */
export type Tried = { kind: 'promoted'; holds: readonly string[] } | { kind: 'passed over' };

export type Answer<W extends Wish = Wish> = W extends { kind: 'promote' } ? Tried : undefined;

/** The first run of this signature behind that place, as the queue is when it is asked; undefined: there is none. */
export type NextOf = (after: Place & Pick<QueuedRun, 'signature'>) => QueuedRun | undefined;

/**
 * One pass over the queue: the runs in order of arrival, each matched against the nodes that are still free, which gives
 * the same promotions in the same order as looking at every run. It looks at the heads only: nodes only become fewer during
 * a pass, so a line for which there was no room once has none for the rest of it, and is dropped with all its runs unseen.
 * A head that is too wide is not like that, since it may fit when others have taken what it would; but until something is
 * taken the runs behind it are as wide, and they are passed over as well.
 *
 * Sound because the matcher is: roles are independent, or with `spread` an assignment is found whenever there is one.
 * It goes by places, so the queue may change while it is under way: a run that has left is passed over, one that comes is
 * met if its turn is still to come. Whoever drives it ends it where what was read turns out to be outdated.
 */
export function* sweepHeads(
  lines: Iterable<QueueLine>,
  nextOf: NextOf,
  taken: TakenNodes,
  cap: number,
): Generator<Wish, void, Answer> {
  const heads = new LineHeads(lines);
  const wide = new Set<QueueLine>();

  for (let line = heads.take(); line !== undefined; line = heads.take()) {
    const onto = matchFree(line.requires, line.spread, taken.fleet, taken);
    if (onto === undefined) continue;
    const run = line.head;
    if (tooWide(onto.nodes.length, cap)) {
      yield { kind: 'tell too wide', run, onto };
      wide.add(line);
      continue;
    }
    const tried = (yield { kind: 'promote', run, onto }) as Tried;
    if (tried.kind === 'promoted') {
      for (const node of tried.holds) taken.add(node);
      for (const other of wide) goOn(other, run);
      wide.clear();
      // Without room for another of its kind there is no need to know who that would be.
      if (matchFree(line.requires, line.spread, taken.fleet, taken) === undefined) continue;
    }
    goOn(line, run);
  }

  /** Goes on with the first run of the line that is behind this place. */
  function goOn(line: QueueLine, { arrived, seq }: Place): void {
    const next = nextOf({ signature: line.signature, arrived, seq });
    if (next !== undefined) heads.add({ ...line, head: next });
  }
}
