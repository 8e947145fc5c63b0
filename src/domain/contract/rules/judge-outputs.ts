import { BitSet } from '../graph.js';
import type { Draft, DraftGraph, StepDraft } from '../draft.js';
import { quoted } from '../../json/json-text.js';

/** `in` takes what an ancestor promises; `show` shows what some other step promises. */
export function judgeOutputs(draft: Draft, graph: DraftGraph): void {
  const producersOf = new Map<string, BitSet>();
  const unread = new BitSet(draft.steps.length);
  for (const step of draft.steps) {
    if (!step.out.whole || step.kind === undefined) unread.add(step.seq);
    for (const name of step.out.all) {
      const known = producersOf.get(name.text) ?? new BitSet(draft.steps.length);
      producersOf.set(name.text, known.add(step.seq));
    }
  }

  for (const step of draft.steps) {
    const before = graph.ancestors[step.seq]!;
    const known = graph.certain[step.seq] && !unread.meets(before);
    for (const name of step.in.all) {
      if (!known || producersOf.get(name.text)?.meets(before)) continue;
      name.place.fault(`No step that comes before this one has ${quoted(name.text)} in its "out".`);
    }
    judgeShow(step, producersOf, unread, draft.steps.length);
  }
}

function judgeShow(step: StepDraft, producersOf: ReadonlyMap<string, BitSet>, unread: BitSet, size: number): void {
  for (const name of step.ask?.show.all ?? []) {
    const own = new BitSet(size).add(step.seq);
    const producers = producersOf.get(name.text);
    if (producers?.missingIn(own) !== undefined || unread.missingIn(own) !== undefined) continue;
    name.place.fault(`No other step has ${quoted(name.text)} in its "out".`);
  }
}
