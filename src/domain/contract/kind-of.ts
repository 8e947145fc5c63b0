import { STEP_KINDS, type StepKind, type StepSpec } from './contract.js';

/** What a step of a valid contract is. Presence counts: `agent: {}` is a kind. */
export function kindOf(step: StepSpec): StepKind {
  const kind = STEP_KINDS.find((word) => Object.hasOwn(step, word));
  if (kind === undefined) throw new Error(`step ${step.id} is of no kind`);
  return kind;
}
