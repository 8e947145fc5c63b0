import type { Contract, StepKind, StepSpec } from '../contract/contract.js';
import { rebranch } from './rebranch.js';
import { givenBack } from './given-back.js';
import type { EndedAttempt, StepNow, StepResult } from './step-now.js';

/**
 * The steps of one run while a transaction moves them: every rule of the graph is applied here, in memory, and what
 * changed is written afterwards in one go. No clock: the order of ends is counted.
 */
export class StepGraph {
  readonly #changed = new Set<StepNow>();
  readonly #attempts: EndedAttempt[] = [];
  #ends: number;

  constructor(
    readonly contract: Contract,
    readonly steps: StepNow[],
  ) {
    this.#ends = Math.max(0, ...steps.map((step) => step.ended ?? 0));
  }

  step(seq: number): StepNow {
    const step = this.steps[seq - 1];
    if (step === undefined) throw new Error(`there is no step ${seq}`);
    return step;
  }

  spec(step: StepNow): StepSpec {
    return this.contract.steps[step.seq - 1]!;
  }

  /** The steps of this kind that may begin: PENDING, and every need DONE or SKIPPED. */
  ready(...kinds: StepKind[]): StepNow[] {
    const open = new Set(
      this.steps.filter((step) => step.state === 'DONE' || step.state === 'SKIPPED').map(({ id }) => id),
    );
    return this.steps.filter(
      (step) => step.state === 'PENDING' && kinds.includes(step.kind) && step.needs.every((need) => open.has(need)),
    );
  }

  /** Ends a step. */
  end(step: StepNow, state: 'DONE' | 'FAILED', result: StepResult): void {
    step.state = state;
    step.result = result;
    step.ended = ++this.#ends;
    this.#changed.add(step);
    this.#attempts.push({ seq: step.seq, attempt: step.attempt, state, result });
  }

  /** Ends a step with the branch it takes: the target is chosen, what no branch leads to is skipped. */
  choose(step: StepNow, target: string, result: StepResult): void {
    this.end(step, 'DONE', { ...result, branch: target });
    const chosen = this.steps.find((one) => one.id === target)!;
    chosen.chosen = true;
    this.#changed.add(chosen);
    for (const moved of rebranch(this.contract.steps, this.steps)) this.#changed.add(moved);
  }

  /** Raises a question: the step waits for a person. */
  ask(step: StepNow): void {
    step.state = 'ASKED';
    this.#changed.add(step);
  }

  /** Binds every step of the role to the node. */
  bind(role: string, nodeId: string): void {
    for (const step of this.steps) {
      if (step.uses !== role || step.node_id === nodeId) continue;
      step.node_id = nodeId;
      this.#changed.add(step);
    }
  }

  /**
   * Sends the loop of this step round once more: every step from where it goes back to, acquires excepted, is PENDING
   * again in its next attempt, with no result and not chosen. What a branch outside the loop had skipped stays skipped.
   * Gives the steps whose open question is withdrawn, and whether a step is skipped that was not: one that had begun
   * before a branch outside the loop chose another.
   */
  rollBack(looping: StepNow, result: StepResult): { withdrawn: number[]; skipped: boolean } {
    const withdrawn: number[] = [];
    const before = new Map(this.steps.map((step) => [step, step.state]));
    const first = this.steps.find((step) => step.id === this.spec(looping).loop!.back_to)!;
    for (const step of this.steps.slice(first.seq - 1, looping.seq)) {
      if (step.kind === 'acquire') continue;
      if (step.state === 'ASKED') withdrawn.push(step.seq);
      const began = step === looping || step.state === 'CLAIMED' || step.state === 'ASKED';
      if (began) {
        const left = step === looping ? result : null;
        this.#attempts.push({ seq: step.seq, attempt: step.attempt, state: 'ROLLED_BACK', result: left });
      }
      Object.assign(step, { state: 'PENDING', attempt: step.attempt + 1, result: null, chosen: false, ended: null });
      this.#changed.add(step);
    }
    // What a branch outside the loop has chosen stays chosen.
    for (const { result } of this.steps) {
      const chosen = this.steps.find((step) => step.id === result?.branch);
      if (chosen !== undefined) chosen.chosen = true;
    }
    const moved = rebranch(this.contract.steps, this.steps);
    for (const step of moved) this.#changed.add(step);
    return { withdrawn, skipped: moved.some((step) => step.state === 'SKIPPED' && before.get(step) !== 'SKIPPED') };
  }

  /** The roles whose nodes the run does not need any more. */
  givenBack(): Set<string> {
    return givenBack(this.contract.steps, this.steps);
  }

  /** What has to be written: the steps that changed, and the attempts that are over. */
  changes(): { steps: StepNow[]; attempts: EndedAttempt[] } {
    return { steps: [...this.#changed].sort((a, b) => a.seq - b.seq), attempts: [...this.#attempts] };
  }
}
