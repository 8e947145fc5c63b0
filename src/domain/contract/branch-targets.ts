import type { StepSpec } from './contract.js';

/** The steps a step chooses between; none for a step that is no branch. */
export function branchTargets(step: StepSpec): string[] {
  if (step.acquire !== undefined) return [step.acquire.acquired, step.acquire.unavailable];
  return step.dispatch?.to ?? [];
}
