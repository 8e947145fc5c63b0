import type { UnavailableNodes } from '../matching/fleet-use.js';
import {
  type GroupRequirements,
  offeredTraits,
  type OldestOfGroup,
  requiredTrait,
  type RequirementGroup,
} from './requirement-group.js';
import { type ArrivalKey, isOlder, type QueuedRun, RunsInOrder } from './runs-in-order.js';

/** With more free nodes than this, what they offer is not looked up: every group may be of interest. */
const FEW_FREE = 100;

/**
 * The whole queue, in order of arrival and by groups of runs that require the same. A run takes some 250 bytes, so 100,000
 * of them take 25 MB, and what their groups require on top.
 */
export class WaitingQueue {
  readonly #runs = new Map<string, QueuedRun>();
  readonly #inOrder = new RunsInOrder();
  readonly #groups = new Map<string, RequirementGroup>();
  readonly #byTrait = new Map<string, Set<RequirementGroup>>();

  /** How many runs wait. */
  get depth(): number {
    return this.#runs.size;
  }

  /** Puts in a run, or puts it where it belongs now. */
  put({ run_id, arrived, seq, serverSteps }: Omit<QueuedRun, 'signature'>, required: GroupRequirements): void {
    const known = this.#runs.get(run_id);
    if (known !== undefined) {
      if (known.arrived === arrived && known.seq === seq && known.signature === required.signature) {
        known.serverSteps = serverSteps;
        return;
      }
      this.remove(run_id);
    }
    const group = this.#groups.get(required.signature) ?? this.#begin(required);
    // The signature is the group's own: 100,000 copies of it would take as much room as all the rest.
    const run = { run_id, arrived, seq, serverSteps, signature: group.signature };
    this.#runs.set(run_id, run);
    this.#inOrder.add(run);
    group.runs.add(run);
  }

  /** Takes out a run, if it is there. */
  remove(runId: string): void {
    const run = this.#runs.get(runId);
    if (run === undefined) return;
    this.#runs.delete(runId);
    this.#inOrder.delete(run);
    const group = this.#groups.get(run.signature)!;
    group.runs.delete(run);
    if (group.runs.size === 0) this.#end(group);
  }

  groups(): Iterable<RequirementGroup> {
    return this.#groups.values();
  }

  /** What the runs of a signature require; undefined: no such run is queued. */
  requirementsOf(signature: string): GroupRequirements | undefined {
    return this.#groups.get(signature);
  }

  /** Which of the queued runs this one is, from 1, whether it is still there or not. */
  position(key: ArrivalKey): number {
    return 1 + this.#inOrder.countBefore(key);
  }

  /** At most so many runs behind this one, or from the first on, in order of arrival. */
  page(limit: number, after: ArrivalKey = { arrived: -Infinity, seq: 0 }): QueuedRun[] {
    const runs: QueuedRun[] = [];
    for (const run of this.#inOrder.from(after)) {
      if (runs.length === limit) break;
      if (isOlder(after, run)) runs.push(run);
    }
    return runs;
  }

  /** From the run with this key, or the first behind it, on; only for as long as nothing comes or goes. */
  from(key: ArrivalKey): Iterable<QueuedRun> {
    return this.#inOrder.from(key);
  }

  /** The groups that the free nodes may be of use to, each at its oldest run. Copies: they stay as they are when the queue changes. */
  oldestOfEachGroup(unavailable: UnavailableNodes): OldestOfGroup[] {
    const free = unavailable.free(FEW_FREE + 1);
    if (free.length === 0) return [];
    if (free.length > FEW_FREE) return [...this.#groups.values()].map(atOldest);
    const traits = new Set(free.flatMap((rank) => offeredTraits(unavailable.fleet.at(rank))));
    return [...traits].flatMap((trait) => [...(this.#byTrait.get(trait) ?? [])].map(atOldest));
  }

  /** The oldest run behind this one that requires the same. */
  nextInGroup({ signature, ...key }: ArrivalKey & Pick<QueuedRun, 'signature'>): QueuedRun | undefined {
    return this.#groups.get(signature)?.runs.next(key);
  }

  #begin({ signature, requires, spread }: GroupRequirements): RequirementGroup {
    const group = { signature, requires, spread, trait: requiredTrait(requires), runs: new RunsInOrder() };
    this.#groups.set(signature, group);
    const others = this.#byTrait.get(group.trait);
    if (others === undefined) this.#byTrait.set(group.trait, new Set([group]));
    else others.add(group);
    return group;
  }

  #end(group: RequirementGroup): void {
    this.#groups.delete(group.signature);
    const others = this.#byTrait.get(group.trait)!;
    others.delete(group);
    if (others.size === 0) this.#byTrait.delete(group.trait);
  }
}

function atOldest({ signature, requires, spread, runs }: RequirementGroup): OldestOfGroup {
  return { signature, requires, spread, oldest: runs.first! };
}
