import type { Requirement } from '../contract/contract.js';
import type { CandidateSet } from '../matching/candidate-set.js';
import { CandidateSets } from '../matching/candidate-sets.js';
import type { RankedFleet } from '../matching/ranked-fleet.js';
import { isOlder, type Place } from '../sweep/queue-line.js';
import type { WaitingLine, WaitingQueue } from '../sweep/waiting-queue.js';
import { Rivals } from './rivals.js';

/** A run that waits, or did a moment ago. */
export interface Standing extends Place {
  signature: string;
  requires: readonly Requirement[];
}

export interface Stands {
  /** Among the runs that wait, from 1. */
  position: number;
  /** How many of the older ones could take a live node that this one could take, free or not. */
  ahead: number;
}

/** A line, its candidates, and how many of its runs are older than the place that is looked at; -1: not counted yet. */
interface Counted {
  line: WaitingLine;
  candidates: CandidateSet;
  older: number;
}

/** The lines that want a node of one set of candidates, and how many of their runs are older; -1: not counted yet. */
interface Rivalry {
  lines: readonly Counted[];
  older: number;
}

/** A gap between two places that is longer is counted anew, line by line. */
const LONGEST_WALK = 1000;

/**
 * Where runs stand, given in arrival order. What shares a node is looked for once for each set of nodes; what is older is
 * counted for the first place and kept up from one to the next.
 */
export function standings(queue: WaitingQueue, fleet: RankedFleet, runs: readonly Standing[]): Stands[] {
  const sets = CandidateSets.in(fleet);
  const lines: Counted[] = [...queue.lines()].map((line) => {
    return { line, candidates: sets.ofSignature(line.signature, line.requires), older: -1 };
  });
  const all = new Rivals(lines);
  const bySignature = new Map(lines.map((one) => [one.line.signature, one]));
  const rivalries = new Map<CandidateSet, Rivalry>();
  let last: { place: Place; position: number } | undefined;

  return runs.map(({ signature, requires, ...place }) => {
    const position = queue.position(place);
    if (last !== undefined) goOn(last.place, place, position - last.position);
    last = { place, position };
    const wanted = sets.ofSignature(signature, requires);
    const rivalry = rivalries.get(wanted) ?? { lines: all.of(wanted), older: -1 };
    rivalries.set(wanted, rivalry);
    if (rivalry.older < 0) rivalry.older = olderIn(rivalry, place);
    return { position, ahead: rivalry.older };
  });

  /** Keeps up what has been counted: so many runs are older than `to` and not than `from`. */
  function goOn(from: Place, to: Place, count: number): void {
    if (count > LONGEST_WALK) {
      for (const counted of [...lines, ...rivalries.values()]) counted.older = -1;
      return;
    }
    for (const run of queue.from(from)) {
      if (!isOlder(run, to)) return;
      const one = bySignature.get(run.signature)!;
      if (one.older >= 0) one.older += 1;
      for (const [wanted, rivalry] of rivalries) {
        if (rivalry.older >= 0 && wanted.meets(one.candidates)) rivalry.older += 1;
      }
    }
  }
}

function olderIn({ lines }: Rivalry, place: Place): number {
  let older = 0;
  for (const one of lines) {
    if (one.older < 0) one.older = one.line.runs.countBefore(place);
    older += one.older;
  }
  return older;
}
