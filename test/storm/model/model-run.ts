import type { Contract } from '../../../src/domain/contract/contract.js';
import type { VerdictReason } from '../../../src/domain/verdict.js';
import type { RunState } from '../../../src/domain/states.js';
import { type Acquiring, type Move, PlayedRun, storedAndRead } from '../../../src/domain/steps/played-run.fixture.js';
import type { StepNow } from '../../../src/domain/steps/step-now.js';

/** Who does a step, since when; `heard`: its node has spoken since. */
export interface ModelHolder {
  instance: string;
  since: number;
  heard: boolean;
}

/** A run of the model. Which of its steps may begin is the step graph's to say, which has a reference of its own. */
export class ModelRun {
  state: RunState = 'QUEUED';
  reason: VerdictReason | null = null;
  /** When it was last looked at it would have taken more nodes than a run may. */
  wide = false;
  /** Role → its nodes, in the order in which the run got them. */
  readonly assigned = new Map<string, string[]>();
  /** Its steps under way, by number, since when; and its questions, until when. The order is that of their beginning. */
  readonly claimed = new Map<number, ModelHolder>();
  readonly asked = new Map<number, { attempt: number; until: number }>();
  /** By number, since when each step that is ready is: by what it needs, in its attempt. */
  readonly readySince = new Map<number, { by: string; since: number }>();
  /** When a node last came to the end of a step. */
  readonly freeSince = new Map<string, number>();
  #played: PlayedRun | undefined;
  #store: () => void = () => undefined;

  constructor(
    readonly run_id: string,
    readonly contract: Contract,
  ) {}

  begin(acquiring: Acquiring, now: number): void {
    this.state = 'RUNNING';
    this.#played = new PlayedRun(this.contract, acquiring);
    this.#store = storedAndRead(this.#played);
    this.#follow(now);
  }

  /** It waits once more, as if it had never begun. */
  goBack(): void {
    this.state = 'QUEUED';
    this.#played = undefined;
    for (const one of [this.assigned, this.claimed, this.asked, this.readySince, this.freeSince]) one.clear();
  }

  /** Whether something of it may have begun; `isLost`: of a step, that nobody who could do it is there. */
  hasBegun(isLost: (step: StepNow, by: ModelHolder) => boolean): boolean {
    return this.steps.some((step) => {
      if (step.state === 'CLAIMED') return step.attempt > 1 || !isLost(step, this.claimed.get(step.seq)!);
      return step.state !== 'PENDING' || step.attempt > 1;
    });
  }

  do(move: Move, now: number): void {
    this.#played!.do(move);
    this.#store();
    this.#follow(now);
  }

  /** The end that its steps have brought about by themselves. */
  get ending(): PlayedRun['ending'] {
    return this.#played?.ending;
  }

  /** The roles it needs no more. */
  get given(): ReadonlySet<string> {
    return this.#played?.given ?? new Set();
  }

  end(state: RunState, reason: VerdictReason, failed: readonly number[] = []): void {
    this.state = state;
    this.reason = reason;
    for (const seq of failed) this.step(seq).state = 'FAILED';
    this.#played?.cancelSteps();
    this.claimed.clear();
    this.asked.clear();
  }

  step(seq: number): StepNow {
    return this.#played!.graph.step(seq);
  }

  /** All of them; none before it began. */
  get steps(): readonly StepNow[] {
    return this.#played?.graph.steps ?? [];
  }

  /** What nodes could begin now, bound or not. */
  ready(): StepNow[] {
    return this.state === 'RUNNING' ? this.#played!.graph.ready('run', 'agent') : [];
  }

  nodeOf({ uses }: { uses?: string | null }): string {
    return this.assigned.get(uses ?? '')?.[0] ?? '';
  }

  /** Questions that are new begin to run out; what is under way no more is forgotten. */
  #follow(now: number): void {
    for (const { seq, state, attempt } of this.steps) {
      if (state !== 'CLAIMED' && this.claimed.delete(seq)) this.freeSince.set(this.nodeOf(this.step(seq)), now);
      if (state !== 'ASKED' || this.asked.get(seq)?.attempt !== attempt) this.asked.delete(seq);
      if (state !== 'ASKED' || this.asked.has(seq)) continue;
      const { timeout_seconds = Infinity } = this.contract.steps[seq - 1]!.ask!;
      this.asked.set(seq, { attempt, until: now + timeout_seconds / 1800 });
    }
    const ready = this.ready();
    for (const seq of this.readySince.keys()) {
      if (!ready.some((step) => step.seq === seq)) this.readySince.delete(seq);
    }
    for (const { seq, attempt, needs } of ready) {
      const needed = this.steps.filter(({ id }) => needs.includes(id));
      const by = JSON.stringify([attempt, ...needed.map(({ state }) => state)]);
      if (this.readySince.get(seq)?.by !== by) this.readySince.set(seq, { by, since: now });
    }
  }
}
