import { BitSet } from '../graph.js';
import type { Draft, DraftGraph, StepDraft } from '../draft.js';
import type { Name } from '../../json/json-place.js';
import { quoted } from '../../json/json-text.js';

/** `uses` and `release`: a role exists, is acquired before it is used, and is given back after everybody who uses it. */
export function judgeRoles(draft: Draft, graph: DraftGraph): void {
  const declared = new Set(draft.roles.map((role) => role?.text));
  const acquiredBy = acquiringSteps(draft);
  const usersOf = usingSteps(draft);

  const judgeRole = (step: StepDraft, role: Name): boolean => {
    if (declared.has(role.text)) return true;
    const acquire = acquiredBy.get(role.text);
    if (acquire === undefined) {
      if (draft.allRolesRead)
        role.place.fault(
          `There is no role ${quoted(role.text)}; declare it in "requires", or acquire it in an earlier step.`,
        );
      return false;
    }
    if (!graph.certain[step.seq] || graph.ancestors[step.seq]!.has(acquire.seq)) return true;
    role.place.fault(
      `Role ${quoted(role.text)} is acquired by a step that this one does not come after; add that step to "needs".`,
    );
    return false;
  };

  for (const step of draft.steps) {
    if (step.uses !== undefined) judgeRole(step, step.uses);
    for (const role of step.release.all) {
      if (!judgeRole(step, role) || !graph.certain[step.seq]) continue;
      const before = new BitSet(draft.steps.length).addAll(graph.ancestors[step.seq]!).add(step.seq);
      const late = usersOf.get(role.text)?.missingIn(before);
      if (late === undefined) continue;
      const user = draft.steps[late]!.id?.text ?? `${late + 1}`;
      role.place.fault(
        `Every other step that uses ${quoted(role.text)} must come before the step that releases it; ${quoted(user)} does not.`,
      );
    }
  }
}

function acquiringSteps(draft: Draft): Map<string, StepDraft> {
  const steps = new Map<string, StepDraft>();
  for (const step of draft.steps) {
    const role = step.acquire?.want?.as?.text;
    if (role !== undefined && !steps.has(role)) steps.set(role, step);
  }
  return steps;
}

function usingSteps(draft: Draft): Map<string, BitSet> {
  const users = new Map<string, BitSet>();
  for (const step of draft.steps) {
    if (step.uses === undefined) continue;
    const known = users.get(step.uses.text) ?? new BitSet(draft.steps.length);
    users.set(step.uses.text, known.add(step.seq));
  }
  return users;
}
