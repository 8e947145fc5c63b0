import type { BitSet } from '../bit-set.js';
import type { Name } from '../document/place.js';
import { ancestors, normalisedNeeds } from '../graph.js';
import type { Draft, StepDraft } from './draft.js';

export interface DraftGraph {
  needs: number[][];
  ancestors: BitSet[];
  /** Whether everything above a step could be read. Where not, that an ancestor is missing proves nothing. */
  certain: boolean[];
}

export function draftGraph(draft: Draft): DraftGraph {
  const needs = normalisedNeeds(
    draft.steps.map((step) => ({
      id: step.id?.text,
      needs: step.needs?.all.map((name) => name.text),
      targets: draftTargets(step).map((name) => name.text),
    })),
  );
  return { needs, ancestors: ancestors(needs), certain: certainty(draft, needs) };
}

/** The branch targets that could be read. */
export function draftTargets(step: StepDraft): readonly Name[] {
  const { acquire, dispatch } = step;
  const pair = [acquire?.acquired, acquire?.unavailable].filter((name) => name !== undefined);
  return [...pair, ...(dispatch?.to.all ?? [])];
}

function certainty(draft: Draft, needs: readonly (readonly number[])[]): boolean[] {
  const certain: boolean[] = [];
  let branchesRead = true;
  for (const step of draft.steps) {
    const own =
      step.needs === undefined
        ? branchesRead && step.place.isObject
        : step.needs.whole && step.needs.all.every(isBefore(draft, step));
    certain.push(own && needs[step.seq]!.every((need) => certain[need]));
    branchesRead &&= branchesKnown(draft, step);
  }
  return certain;
}

function isBefore(draft: Draft, step: StepDraft): (name: Name) => boolean {
  return (name) => (draft.find(name.text)?.seq ?? Infinity) < step.seq;
}

/** A target that is misspelt may be any later step, whose needs are then not what they seem. */
function branchesKnown(draft: Draft, step: StepDraft): boolean {
  if (step.kind === undefined) return false;
  if (step.acquire !== undefined && (step.acquire.acquired === undefined || step.acquire.unavailable === undefined))
    return false;
  if (step.dispatch !== undefined && !step.dispatch.to.whole) return false;
  return draftTargets(step).every((name) => draft.find(name.text) !== undefined);
}
