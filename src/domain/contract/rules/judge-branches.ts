import { dispatchSource } from '../dispatch-source.js';
import { type Draft, type DraftGraph, draftTargets, type StepDraft } from '../draft.js';
import type { Name } from '../../json/json-place.js';
import { quoted } from '../../json/json-text.js';
import { skippedWith } from '../graph.js';

/** `dispatch` and `acquire`: the choices are distinct later steps, and each can be reached. */
export function judgeBranches(draft: Draft, graph: DraftGraph): void {
  for (const step of draft.steps) {
    judgeSource(step);
    const choices = judgeTargets(draft, step, draftTargets(step));
    if (choices.length > 1) judgeReach(choices, graph);
  }
}

interface Choice {
  name: Name;
  seq: number;
}

function judgeSource(step: StepDraft): void {
  const from = step.dispatch?.from;
  if (from === undefined || !step.out.whole) return;
  const outs = step.out.all.map((name) => name.text);
  if (dispatchSource(from.text, outs) !== undefined) return;
  from.place.fault(
    '"from" is the name of an output from "out" of this step, followed by the fields below it, each after a dot.',
  );
}

function judgeTargets(draft: Draft, step: StepDraft, targets: readonly Name[]): Choice[] {
  const choices: Choice[] = [];
  const seen = new Set<string>();
  for (const name of targets) {
    if (seen.has(name.text)) {
      name.place.fault(`${quoted(name.text)} is already a choice; the choices must be distinct.`);
      continue;
    }
    seen.add(name.text);
    const target = draft.step(name);
    if (target === undefined) continue;
    if (target.seq > step.seq) choices.push({ name, seq: target.seq });
    else name.place.fault(`A choice must be a later step; ${quoted(name.text)} does not come after this one.`);
  }
  return choices;
}

/**
 * Simulates every choice: the others are skipped, the skip spreads, and the chosen step must not be among the skipped. One pass
 * serves all choices: whether the skip reaches a target depends on earlier steps only, and there it makes no difference whether the
 * target itself was skipped.
 */
function judgeReach(choices: readonly Choice[], graph: DraftGraph): void {
  const seqs = choices.map((choice) => choice.seq);
  const skipped = skippedWith(seqs, graph.needs);
  for (const { name, seq } of choices) {
    const needs = graph.needs[seq]!;
    if (!graph.certain[seq] || needs.length === 0 || !needs.every((need) => skipped.has(need))) continue;
    name.place.fault(`${quoted(name.text)} can never be reached: choosing it skips everything it needs.`);
  }
}
