import type { Requirement } from '../contract/contract.js';
import type { CandidateSet } from '../matching/candidate-set.js';
import { CandidateSets } from '../matching/candidate-sets.js';
import type { RankedFleet } from '../matching/ranked-fleet.js';
import type { RequirementGroup } from '../sweep/requirement-group.js';
import { type ArrivalKey, isOlder } from '../sweep/runs-in-order.js';
import type { WaitingQueue } from '../sweep/waiting-queue.js';
import { SharedCandidates } from './shared-candidates.js';

/** A run that waits, or did a moment ago. */
export interface WaitingRun extends ArrivalKey {
  signature: string;
  requires: readonly Requirement[];
}

export interface QueuePosition {
  /** Among the runs that wait, from 1. */
  position: number;
  /** How many of the older ones could take a live node that this one could take, free or not. */
  ahead: number;
}

/** A group, its candidates, and how many of its runs are older than the run that is looked at; -1: not counted yet. */
interface CountedGroup {
  group: RequirementGroup;
  candidates: CandidateSet;
  older: number;
}

/** The groups that could take a node of one set, and how many of their runs are older; -1: not counted yet. */
interface CompetingGroups {
  groups: readonly CountedGroup[];
  older: number;
}

/** Between two runs with more of the queue between them, everything is counted anew, group by group. */
const LONGEST_WALK = 1000;

/**
 * Where runs stand in the queue, given in arrival order. The groups that share a node are looked for once for each set of
 * nodes; what is older is counted for the first run and kept up from one to the next.
 */
export function queuePositions(queue: WaitingQueue, fleet: RankedFleet, runs: readonly WaitingRun[]): QueuePosition[] {
  const sets = CandidateSets.in(fleet);
  const groups = [...queue.groups()].map((group): CountedGroup => {
    return { group, candidates: sets.ofSignature(group.signature, group.requires), older: -1 };
  });
  const index = new SharedCandidates(groups);
  const bySignature = new Map(groups.map((one) => [one.group.signature, one]));
  const competing = new Map<CandidateSet, CompetingGroups>();
  let last: { key: ArrivalKey; position: number } | undefined;

  return runs.map(({ signature, requires, ...key }) => {
    const position = queue.position(key);
    if (last !== undefined) goOn(last.key, key, position - last.position);
    last = { key, position };
    const wanted = sets.ofSignature(signature, requires);
    const competitors = competing.get(wanted) ?? { groups: index.sharing(wanted), older: -1 };
    competing.set(wanted, competitors);
    if (competitors.older < 0) competitors.older = countOlder(competitors, key);
    return { position, ahead: competitors.older };
  });

  /** Keeps up what has been counted: so many runs are older than `to` and not than `from`. */
  function goOn(from: ArrivalKey, to: ArrivalKey, count: number): void {
    if (count > LONGEST_WALK) {
      for (const counted of [...groups, ...competing.values()]) counted.older = -1;
      return;
    }
    for (const run of queue.from(from)) {
      if (!isOlder(run, to)) return;
      const one = bySignature.get(run.signature)!;
      if (one.older >= 0) one.older += 1;
      for (const [wanted, competitors] of competing) {
        if (competitors.older >= 0 && wanted.meets(one.candidates)) competitors.older += 1;
      }
    }
  }
}

function countOlder({ groups }: CompetingGroups, key: ArrivalKey): number {
  let older = 0;
  for (const one of groups) {
    if (one.older < 0) one.older = one.group.runs.countBefore(key);
    older += one.older;
  }
  return older;
}
