import type { Matched } from '../matching/match.js';
import type { QueuedRun } from './runs-in-order.js';
import type { Outcome, SweepCommand } from './sweep-by-groups.js';

/** A queued run and the nodes that it was matched with. */
export interface MatchedRun {
  run: QueuedRun;
  onto: Matched;
}

/** What a pass wants done, each command in a transaction of its own, or none. */
export type BundledCommand =
  /** Promote all of these runs or none; an `Outcome` comes back. `holds` is asked for where it is one run. */
  | { kind: 'promote'; runs: MatchedRun[] }
  /** Nothing comes back. */
  | ({ kind: 'log too wide' } & MatchedRun);

/**
 * How a pass ended. `one by one`: of several runs one could not be promoted, so none of them was, and what was matched
 * behind them is wrong. It shows which one it was when each is promoted by itself.
 */
export type EndOfPass = 'complete' | 'one by one';

/**
 * Puts the promotions of a pass together, so that who frees many nodes does not wait for as many transactions. The first run
 * goes by itself, then twice as many go at a time as before: who frees one node waits for one promotion.
 *
 * A run in a bundle counts as promoted before the bundle is sent: its nodes are known, since the server does nothing in it.
 * A run with steps of the server may take more nodes, or give some back, so it goes by itself, after those before it.
 */
export function* bundlePromotions(
  commands: Generator<SweepCommand, void, Outcome | undefined>,
  { most, passOver }: { most: number; passOver: (runId: string) => boolean },
): Generator<BundledCommand, EndOfPass, Outcome | undefined> {
  let bundle: MatchedRun[] = [];
  let size = 1;

  let outcome: Outcome | undefined;
  for (let next = commands.next(); !next.done; next = commands.next(outcome)) {
    const { kind, run, onto } = next.value;
    if (kind === 'log too wide') {
      outcome = yield next.value;
    } else if (passOver(run.run_id)) {
      outcome = { kind: 'passed over' };
    } else if (size === 1 || run.serverSteps) {
      if (!(yield* sendBundle())) return 'one by one';
      outcome = yield { kind: 'promote', runs: [{ run, onto }] };
      size = Math.max(size, Math.min(2, most));
    } else {
      bundle.push({ run, onto });
      outcome = { kind: 'promoted', holds: onto.nodes.map((node) => node.node_id) };
      if (bundle.length < size) continue;
      if (!(yield* sendBundle())) return 'one by one';
      size = Math.min(2 * size, most);
    }
  }
  return (yield* sendBundle()) ? 'complete' : 'one by one';

  /** False: there were some, and none of them was promoted. */
  function* sendBundle(): Generator<BundledCommand, boolean, Outcome | undefined> {
    const runs = bundle;
    if (runs.length === 0) return true;
    bundle = [];
    return (yield { kind: 'promote', runs })?.kind === 'promoted';
  }
}
