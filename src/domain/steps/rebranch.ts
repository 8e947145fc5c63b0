import { branchTargets } from '../contract/valid-steps.js';
import type { StepSpec } from '../contract/contract.js';
import type { StepNow } from './step-now.js';

/**
 * Skips what no branch leads to, and revives what a later branch leads to again. Derived anew from the choices that have
 * been made, in the order in which they were made: of each choice the targets that were not chosen are skipped, the
 * chosen one is not, the later word counts; and the skip spreads to every step all of whose needs are skipped. Whatever
 * was said, a step is skipped too whose role is not acquired: it would wait for a node for ever. A step that has begun
 * is not touched. Gives the steps that changed.
 */
export function rebranch(specs: readonly StepSpec[], steps: StepNow[]): StepNow[] {
  const led = lastWords(specs, steps);
  const skipped = new Set<string>();
  const notAcquired = new Set<string>();
  const changed: StepNow[] = [];
  for (const step of steps) {
    if (step.state === 'PENDING' || step.state === 'SKIPPED') {
      const word = led.get(step.id);
      const unreached = step.needs.length > 0 && step.needs.every((need) => skipped.has(need));
      const isSkipped = (word === undefined ? unreached : !word) || (step.uses !== null && notAcquired.has(step.uses));
      if (isSkipped) skipped.add(step.id);
      const state = isSkipped ? 'SKIPPED' : 'PENDING';
      if (state !== step.state) changed.push(step);
      step.state = state;
    }
    // The acquire stands before every step that uses its role.
    const acquire = specs[step.seq - 1]!.acquire;
    if (acquire !== undefined && gotNothing(step, acquire.unavailable)) notAcquired.add(acquire.want.as);
  }
  return changed;
}

function gotNothing({ state, result }: StepNow, unavailable: string): boolean {
  return state === 'SKIPPED' || (state === 'DONE' && result?.branch === unavailable);
}

/** For every step that some branch named: whether the last that did chose it. */
function lastWords(specs: readonly StepSpec[], steps: StepNow[]): Map<string, boolean> {
  const words = new Map<string, boolean>();
  const choices = steps.filter((step) => step.result?.branch !== undefined && step.state === 'DONE');
  for (const { seq, result } of choices.sort((a, b) => a.ended! - b.ended! || a.seq - b.seq)) {
    for (const target of branchTargets(specs[seq - 1]!)) words.set(target, target === result!.branch);
  }
  return words;
}
