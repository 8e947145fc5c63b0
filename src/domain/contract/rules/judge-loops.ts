import type { Draft, StepDraft } from '../draft.js';
import { quoted } from '../../json/json-text.js';
import { judgeVerdict } from './judge-conditions.js';

/** From `back_to` to the step that loops, both included. */
interface Range {
  first: number;
  last: number;
}

export function judgeLoops(draft: Draft): void {
  let lastOfBefore = -1;
  for (const step of draft.steps) {
    if (step.loop === undefined) continue;
    if (step.loop.until !== undefined) judgeVerdict(step, step.loop.until);
    const range = judgeBackTo(draft, step);
    if (range === undefined) continue;
    if (range.first <= lastOfBefore) {
      // One fault for one cause: what stands inside is judged once the loops are apart.
      step.loop.back_to?.place.fault(
        'Loops must not nest or overlap: go back to a step after the end of the previous loop.',
      );
    } else {
      judgeInside(draft, range);
    }
    lastOfBefore = range.last;
  }
}

function judgeBackTo(draft: Draft, step: StepDraft): Range | undefined {
  const name = step.loop?.back_to;
  const target = name === undefined ? undefined : draft.step(name);
  if (name === undefined || target === undefined) return undefined;
  if (target.seq <= step.seq) return { first: target.seq, last: step.seq };
  return name.place.fault(`A loop must go back to its own step or an earlier one; ${quoted(name.text)} is later.`);
}

function judgeInside(draft: Draft, { first, last }: Range): void {
  for (const step of draft.steps.slice(first, last + 1)) {
    for (const role of step.release.all) {
      role.place.fault(
        'A role must not be released inside the range of a loop, which may run again; release it after the loop.',
      );
    }
    for (const name of step.dispatch?.to.all ?? []) {
      const target = draft.find(name.text);
      // A target that is not later is faulty already.
      if (target === undefined || target.seq <= step.seq || target.seq <= last) continue;
      name.place.fault(
        `A dispatch inside the range of a loop must choose a step of that range; ${quoted(name.text)} comes after the loop.`,
      );
    }
  }
}
