import { branchTargets } from '../contract/valid-steps.js';
import type { StepSpec } from '../contract/contract.js';
import type { StepNow } from './step-now.js';

/**
 * The roles that are given back: a step that releases them is done, and no step that uses them may still run. Mostly the
 * first is enough, since the others that use a role come before the step that releases it. But a step before it can be
 * skipped, and opens the gate while what comes before that one is still at work; a skipped step can be revived; and a
 * loop can go round again. Then the role is kept until nothing of this can happen any more.
 */
export function givenBack(specs: readonly StepSpec[], steps: readonly StepNow[]): Set<string> {
  const roles = new Set(steps.flatMap((step) => (step.state === 'DONE' ? (specs[step.seq - 1]!.release ?? []) : [])));
  if (roles.size === 0) return roles;
  for (const step of stepsThatMayRun(specs, steps)) if (step.uses !== null) roles.delete(step.uses);
  return roles;
}

/** What has not ended, and what that may revive or send round again. */
function stepsThatMayRun(specs: readonly StepSpec[], steps: readonly StepNow[]): Set<StepNow> {
  // A set that grows while it is walked is walked to its end.
  const mayRun = new Set(steps.filter((step) => step.state !== 'DONE' && step.state !== 'SKIPPED'));
  for (const step of mayRun) for (const moved of movedBy(step, specs[step.seq - 1]!, steps)) mayRun.add(moved);
  return mayRun;
}

function movedBy(mover: StepNow, spec: StepSpec, steps: readonly StepNow[]): StepNow[] {
  const targets = branchTargets(spec);
  const first = steps.find((step) => step.id === spec.loop?.back_to)?.seq ?? Infinity;
  const follows = (step: StepNow): boolean =>
    mover.state === 'SKIPPED' &&
    (step.needs.includes(mover.id) || (step.uses !== null && step.uses === spec.acquire?.want.as));
  return steps.filter((step) => {
    const inLoop = step.seq >= first && step.seq <= mover.seq && step.kind !== 'acquire';
    return inLoop || (step.state === 'SKIPPED' && (targets.includes(step.id) || follows(step)));
  });
}
