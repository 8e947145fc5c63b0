import { branchTargets } from './branch-targets.js';
import type { Contract } from './contract.js';
import { normalisedNeeds } from './graph.js';

/** The ids each step of a valid contract waits for, in the order of the steps. */
export function needsOf(contract: Contract): string[][] {
  const steps = contract.steps.map((step) => ({ id: step.id, needs: step.needs, targets: branchTargets(step) }));
  return normalisedNeeds(steps).map((needs) => needs.map((seq) => contract.steps[seq]!.id));
}
