import type { Name } from '../json/json-place.js';
import { quoted } from '../json/json-text.js';
import type { CONDITION, CONTRACT } from './contract.js';
import type { DraftOf } from './declared/shape.js';
import { ancestors, type BitSet, normalisedNeeds } from './graph.js';
import type { STEP } from './step-kinds.js';

/** What could be read of a contract that may be faulty. What is missing or ill-shaped has its fault already. */
type ContractDraft = NonNullable<DraftOf<typeof CONTRACT>>;
type ConditionDraft = NonNullable<DraftOf<typeof CONDITION>>;
export type StepDraft = NonNullable<DraftOf<typeof STEP>> & { seq: number };
/** What a loop and a condition judge a step by. */
export type VerdictDraft = Pick<ConditionDraft, 'exit_code' | 'produced'>;

/** A draft in which steps are found by their names. */
export class Draft {
  readonly roles: readonly (Name | undefined)[];
  readonly steps: readonly StepDraft[];
  readonly conditions: readonly ConditionDraft[];
  /** False where some role could not be read: then a role that is not found may be that one. */
  readonly allRolesRead: boolean;
  private readonly byId = new Map<string, StepDraft>();
  private readonly allIdsRead: boolean;

  constructor({ requires, steps, success_when }: ContractDraft) {
    this.roles = requires.all.map((requirement) => requirement.as);
    this.steps = steps.all.map((step, seq) => ({ ...step, seq }));
    this.conditions = success_when.all;
    this.allIdsRead = steps.whole && this.steps.every((step) => step.id !== undefined);
    this.allRolesRead =
      steps.whole &&
      requires.whole &&
      this.roles.every((role) => role !== undefined) &&
      this.steps.every(({ acquire }) => acquire === undefined || acquire.want?.as !== undefined);
    for (const step of this.steps) {
      if (step.id !== undefined && !this.byId.has(step.id.text)) this.byId.set(step.id.text, step);
    }
  }

  find(id: string): StepDraft | undefined {
    return this.byId.get(id);
  }

  /** The step that is referred to, or a fault, unless it may be one whose id could not be read. */
  step(name: Name): StepDraft | undefined {
    const step = this.find(name.text);
    if (step === undefined && this.allIdsRead)
      name.place.fault(`There is no step ${quoted(name.text)}; name one of this contract.`);
    return step;
  }
}

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
      needs: step.needs.given ? step.needs.all.map((name) => name.text) : undefined,
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
    const own = step.needs.given
      ? step.needs.whole && step.needs.all.every(isBefore(draft, step))
      : branchesRead && step.place.isObject;
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
