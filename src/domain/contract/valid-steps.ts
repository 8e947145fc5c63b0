import type { Contract, StepKind, StepSpec } from './contract.js';
import { normalisedNeeds } from './graph.js';
import { STEP_KINDS } from './step-kinds.js';

/** What a step of a valid contract is. Presence counts: `agent: {}` is a kind. */
export function kindOf(step: StepSpec): StepKind {
  const kind = STEP_KINDS.find((word) => Object.hasOwn(step, word));
  if (kind === undefined) throw new Error(`step ${step.id} is of no kind`);
  return kind;
}

/** The steps a step chooses between; none for a step that is no branch. */
export function branchTargets(step: StepSpec): string[] {
  if (step.acquire !== undefined) return [step.acquire.acquired, step.acquire.unavailable];
  return step.dispatch?.to ?? [];
}

/** The ids each step of a valid contract waits for, in the order of the steps. */
export function needsOf(contract: Contract): string[][] {
  const steps = contract.steps.map((step) => ({ id: step.id, needs: step.needs, targets: branchTargets(step) }));
  return normalisedNeeds(steps).map((needs) => needs.map((seq) => contract.steps[seq]!.id));
}
