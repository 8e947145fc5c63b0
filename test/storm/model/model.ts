import type { Contract, Requirement } from '../../../src/domain/contract/contract.js';
import type { Move } from '../../../src/domain/steps/played-run.fixture.js';
import type { StepNow } from '../../../src/domain/steps/step-now.js';
import { ModelRun } from './model-run.js';
import {
  canServe,
  leastOf,
  naiveMatch,
  type Offering,
  widthOf,
} from '../../../src/domain/matching/naive-match.fixture.js';

/** Times are counted in half hours: how long an advert or a renewed lease lives, a new lease, and a renew period. */
export const LIFE = 6;
export const FIRST_LIFE = 8;
export const RENEW = 2;
/** How long a silent node is remembered. */
export const REMEMBER = 4;
/** In what time a step must be begun; and so many faults in a row a node may have. */
export const START = 5;
export const FAULTS = 3;
/** The most nodes that a run may lease. */
export const CAP = 3;

export interface ModelAdvert extends Offering {
  instance: string;
  drain: string;
  seq?: number;
}

interface ModelNode extends ModelAdvert {
  until: number;
  /** Who has taken it out of service. */
  held: 'person' | 'mediator' | undefined;
  /** When it spoke again after a silence. */
  backAt: number | undefined;
  /** How many runs it has ended in a row by its own doing. */
  faults: number;
  /** The latest first. */
  superseded: string[];
}

interface ModelLease {
  run_id: string;
  since: number;
  until: number;
  roles: Set<string>;
}

/** What a node was given, and by which lease. */
export interface ModelClaim {
  run_id: string;
  seq: number;
  attempt: number;
  node_id: string;
  lease: ModelLease;
}

/** The rules of the Mediator, stated as plainly as they can be: everything is looked at again every time. */
export class Model {
  now = 0;
  readonly nodes = new Map<string, ModelNode>();
  readonly leases = new Map<string, ModelLease>();
  /** In arrival order. */
  readonly runs = new Map<string, ModelRun>();
  readonly claims: ModelClaim[] = [];

  isLive = (nodeId: string): boolean => (this.nodes.get(nodeId)?.until ?? 0) > this.now;
  live = (): ModelNode[] => [...this.nodes.values()].filter((node) => node.until > this.now);
  /** The live ones, and those that are remembered. */
  existing = (): Offering[] =>
    [...this.nodes.values()]
      .filter((node) => node.until + REMEMBER > this.now)
      .map((node) => ({ ...node, silent: node.until <= this.now }));
  free = (): Offering[] =>
    this.live().filter((node) => !this.leases.has(node.node_id) && node.drain === '' && !node.held);
  inState = (state: string): ModelRun[] => [...this.runs.values()].filter((run) => run.state === state);

  submit(run_id: string, contract: Contract): number {
    if (this.runs.has(run_id)) return 200;
    const run = new ModelRun(run_id, contract);
    this.runs.set(run_id, run);
    const found = naiveMatch(contract, this.free(), CAP);
    if (!naiveMatch(contract, this.existing())) run.end('FAILED', 'unsatisfiable');
    else if ((found ? widthOf(found) : leastOf(contract)) > CAP) run.end('FAILED', 'too_wide');
    else if (found) this.#begin(run, found);
    else this.#sweep();
    if (run.reason === 'too_wide' || run.reason === 'unsatisfiable') return 422;
    return run.state === 'QUEUED' ? 202 : 201;
  }

  /** `late`: it changes nothing. */
  advertise(advert: ModelAdvert): 'stored' | 'late' | 'stale_instance' {
    const { node_id, instance } = advert;
    const before = this.nodes.get(node_id);
    const same = before?.instance === instance;
    if (instance !== '') {
      if (before?.superseded.includes(instance)) return 'stale_instance';
      if (same && before.until > this.now && advert.seq! <= before.seq!) return 'late';
    }
    const superseded = before?.superseded ?? [];
    const supersedes = before !== undefined && instance !== '' && before.instance !== '' && !same;
    this.nodes.set(node_id, {
      ...advert,
      seq: advert.seq ?? (same ? before.seq : undefined),
      until: this.now + LIFE,
      held: before?.held,
      backAt: before === undefined || before.until > this.now ? before?.backAt : this.now,
      faults: before?.faults ?? 0,
      superseded: supersedes ? [before.instance, ...superseded].slice(0, 16) : superseded,
    });
    const run = this.runs.get(this.leases.get(node_id)?.run_id ?? '');
    let wakes = false;
    if (run) {
      const claimed = this.#claimedBy(run, node_id);
      for (const [, by] of claimed) by.heard = true;
      const lost = instance === '' ? [] : claimed.filter(([, by]) => by.instance !== '' && by.instance !== instance);
      if (lost.length > 0) {
        this.#end(run, 'FAILED', 'node_restarted', lost.map(([seq]) => seq).sort());
        this.#fault(node_id);
      } else if (advert.drain === 'at-boundary' && claimed.length === 0) this.#leave(run, 'CANCELLED', 'drained');
      wakes = run.state !== 'RUNNING';
    }
    const lease = this.leases.get(node_id);
    if (lease) lease.until = this.now + LIFE;
    const joins = !before || before.until - this.now <= RENEW / 2 || widens(before, advert);
    if (wakes || (advert.drain === '' && !before?.held && (joins || before.drain !== ''))) this.#sweep();
    return 'stored';
  }

  hold(node_id: string): 200 | 404 {
    const node = this.nodes.get(node_id);
    if (node === undefined) return 404;
    node.held = 'person';
    return 200;
  }

  lift(node_id: string): 200 | 404 {
    const node = this.nodes.get(node_id);
    if (node === undefined) return 404;
    const wakes = node.held !== undefined && node.until > this.now;
    if (node.held !== undefined) node.faults = 0;
    node.held = undefined;
    if (wakes) this.#sweep();
    return 200;
  }

  /** A claim that was given; or the status of one that was not. */
  claim(node_id: string, instance: string): ModelClaim | 204 | 409 {
    const running = this.inState('RUNNING');
    const ready = running.flatMap((run) =>
      run.ready().flatMap((step) => (run.nodeOf(step) === node_id ? [{ run, seq: step.seq }] : [])),
    );
    const known = this.nodes.get(node_id)?.instance ?? '';
    if (known !== '' && instance !== '' && known !== instance) return 409;
    for (const run of running) {
      for (const [, by] of this.#claimedBy(run, node_id)) by.heard ||= by.instance === instance;
    }
    if (!this.isLive(node_id)) return 204;
    const held = running.flatMap((run) =>
      [...run.claimed].flatMap(([seq, by]) =>
        instance !== '' && by.instance === instance && run.nodeOf(run.step(seq)) === node_id ? [{ run, seq }] : [],
      ),
    );
    const given = held[0] ?? ready[0];
    if (given === undefined) return 204;
    const { run, seq } = given;
    if (held.length === 0) {
      run.do({ kind: 'claim', seq }, this.now);
      run.claimed.set(seq, { instance, since: this.now, heard: false });
    }
    const lease = this.leases.get(node_id)!;
    const claim = { run_id: run.run_id, seq, attempt: run.step(seq).attempt, node_id, lease };
    this.claims.push(claim);
    return claim;
  }

  /** Why the report of a claim is refused, if it is. */
  refusal({ run_id, seq, attempt, node_id, lease }: ModelClaim, nonce = true): string | undefined {
    if (!nonce || this.leases.get(node_id) !== lease) return 'stale_lease';
    const run = this.runs.get(run_id)!;
    const step = run.step(seq);
    const isIts = step.state === 'CLAIMED' && step.attempt === attempt && run.nodeOf(step) === node_id;
    return isIts ? undefined : 'not_claimed';
  }

  /** A report or an answer, of a step that is under way; what is answered. */
  move(run: ModelRun, move: Exclude<Move, { kind: 'claim' }>): object {
    const { attempt, uses } = run.step(move.seq);
    const held = this.#leasesOf(run).length;
    run.do(move, this.now);
    this.#giveBack(run);
    const step = run.step(move.seq);
    if (move.kind === 'report') {
      if (move.report.error !== undefined) this.#fault(run.nodeOf({ uses }));
      else if (step.state === 'DONE') this.nodes.get(run.nodeOf({ uses }))!.faults = 0;
    }
    const goesRound = step.state === 'PENDING';
    let wakes = !goesRound || this.#leasesOf(run).length < held;
    if (run.ending) this.#end(run, run.ending.state, run.ending.verdict.reason);
    else if (move.kind === 'report' && this.nodes.get(run.nodeOf({ uses }))!.drain === 'at-boundary') {
      this.#end(run, 'CANCELLED', 'drained');
      wakes = true;
    }
    const answered = { step_state: step.state, rolled_back: step.attempt !== attempt, run_state: run.state };
    if (wakes) this.#sweep();
    return answered;
  }

  cancel(run: ModelRun): void {
    if (run.state !== 'QUEUED' && run.state !== 'RUNNING') return;
    this.#end(run, 'CANCELLED', 'cancelled');
    this.#sweep();
  }

  reap(): void {
    const under = this.inState('RUNNING');
    for (const run of under) {
      const [overdue] = [...run.asked]
        .filter(([, { until }]) => until <= this.now)
        .sort(([, a], [, b]) => a.until - b.until);
      if (overdue) this.#end(run, 'FAILED', 'ask_expired', [overdue[0]]);
    }
    for (const run of this.inState('RUNNING')) {
      const late = ([seq, { since }]: [number, { since: number }]): boolean =>
        since + (run.contract.steps[seq - 1]!.timeout_seconds ?? Infinity) / 1800 + RENEW <= this.now;
      const overdue = [...run.claimed].find(late);
      if (overdue) this.#end(run, 'FAILED', 'step_timeout', [overdue[0]]);
    }
    for (const run of this.inState('RUNNING')) {
      const waits = run.asked.size > 0 && run.claimed.size === 0 && run.ready().length === 0;
      const ranOut = this.#leasesOf(run).some(([node, lease]) => lease.until <= this.now || !this.isLive(node));
      if (!ranOut || waits) continue;
      for (const [node, lease] of this.#leasesOf(run)) {
        if (lease.until <= this.now || !this.isLive(node)) this.#fault(node);
      }
      this.#leave(run, 'FAILED', 'lease_expired');
    }
    for (const run of this.inState('RUNNING')) {
      const [unbegun] = run.ready().filter((step) => this.#isUnbegun(run, step));
      if (unbegun === undefined) continue;
      this.#fault(run.nodeOf(unbegun));
      this.#end(run, 'FAILED', 'not_started', [unbegun.seq]);
    }
    if (under.some((run) => run.state !== 'RUNNING')) this.#sweep();
  }

  /** The oldest run that fits what is free has it, until there is none. One that would take too much is looked at once. */
  #sweep(): void {
    for (const run of this.runs.values()) run.wide = false;
    for (let found: string[][] | undefined; ;) {
      const next = this.inState('QUEUED').find(
        (run) => !run.wide && (found = naiveMatch(run.contract, this.free(), CAP)),
      );
      if (next === undefined || found === undefined) return;
      if (widthOf(found) > CAP) next.wide = true;
      else this.#begin(next, found);
    }
  }

  #begin(run: ModelRun, found: string[][]): void {
    run.contract.requires.forEach(({ as }, at) => this.#lease(run, as, found[at]!));
    run.begin((step) => this.#acquire(run, run.contract.steps[step.seq - 1]!.acquire!.want), this.now);
    if (run.ending) this.#end(run, run.ending.state, run.ending.verdict.reason);
  }

  #acquire(run: ModelRun, want: Requirement): string | undefined {
    this.#giveBack(run);
    const [node] = naiveMatch({ requires: [want] }, this.free())?.[0] ?? [];
    if (node === undefined || this.#leasesOf(run).length >= CAP) return undefined;
    this.#lease(run, want.as, [node]);
    return node;
  }

  #lease(run: ModelRun, role: string, nodes: string[]): void {
    run.assigned.set(role, nodes);
    for (const node of nodes) {
      const fresh = { run_id: run.run_id, since: this.now, until: this.now + FIRST_LIFE, roles: new Set<string>() };
      this.leases.set(node, this.leases.get(node) ?? fresh);
      this.leases.get(node)!.roles.add(role);
    }
  }

  #claimedBy = (run: ModelRun, node_id: string) =>
    [...run.claimed].filter(([seq]) => run.nodeOf(run.step(seq)) === node_id);

  #leasesOf = (run: ModelRun) => [...this.leases].filter(([, lease]) => lease.run_id === run.run_id);

  #giveBack(run: ModelRun): void {
    for (const [node, { roles }] of this.#leasesOf(run)) {
      for (const role of run.given) roles.delete(role);
      if (roles.size === 0) this.leases.delete(node);
    }
  }

  /** Nobody has begun the step for too long, though its node is there and has nothing else to do. */
  #isUnbegun(run: ModelRun, step: StepNow): boolean {
    const node = run.nodeOf(step);
    const lease = this.leases.get(node);
    if (lease?.run_id !== run.run_id || !this.isLive(node) || this.#claimedBy(run, node).length > 0) return false;
    const since = Math.max(
      run.readySince.get(step.seq)!.since,
      run.freeSince.get(node) ?? 0,
      lease.since,
      this.nodes.get(node)!.backAt ?? 0,
    );
    return since + START <= this.now;
  }

  /** A node has ended a run, or sent it back to the queue, by its own doing. */
  #fault(node_id: string): void {
    const node = this.nodes.get(node_id)!;
    node.faults += 1;
    if (node.faults >= FAULTS) node.held ??= 'mediator';
  }

  /** A node has left the run: it ends so, or waits again where nothing has begun. */
  #leave(run: ModelRun, ...how: Parameters<ModelRun['end']>): void {
    if (run.hasBegun((step, by) => !by.heard && !this.isLive(run.nodeOf(step)))) return this.#end(run, ...how);
    for (const [node] of this.#leasesOf(run)) this.leases.delete(node);
    run.goBack();
  }

  #end(run: ModelRun, ...how: Parameters<ModelRun['end']>): void {
    run.end(...how);
    for (const [node] of this.#leasesOf(run)) this.leases.delete(node);
  }
}

/** Whether some entry is not contained in one entry of before: whether that would not have served who wants just this. */
function widens(before: Offering, after: Offering): boolean {
  return after.capabilities.some((entry) => !canServe({ as: 'any', ...entry }, before));
}
