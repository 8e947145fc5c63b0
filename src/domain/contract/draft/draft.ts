import type { StepKind } from '../contract.js';
import type { Name, Names, Place } from '../document/place.js';
import { quoted } from '../document/quoted.js';

/** What could be read of a contract that may be faulty. What is missing or ill-shaped has its fault already. */
export interface RequirementDraft {
  as: Name | undefined;
}

export interface StepDraft {
  seq: number;
  place: Place;
  id: Name | undefined;
  /** Unknown where none or more than one stands there. */
  kind: StepKind | undefined;
  uses: Name | undefined;
  /** Undefined where the contract says nothing, which is not the same as an empty list. */
  needs: Names | undefined;
  in: Names;
  out: Names;
  schema: Place | undefined;
  /** Undefined where what stands there is no boolean. */
  allowFailure: boolean | undefined;
  release: Names;
  dispatch: DispatchDraft | undefined;
  loop: LoopDraft | undefined;
  acquire: AcquireDraft | undefined;
  ask: AskDraft | undefined;
}

export interface DispatchDraft {
  from: Name | undefined;
  to: Names;
}

export interface LoopDraft {
  backTo: Name | undefined;
  until: VerdictDraft;
}

export interface AcquireDraft {
  role: Name | undefined;
  acquired: Name | undefined;
  unavailable: Name | undefined;
}

export interface AskDraft {
  show: Names;
  /** Undefined where what stands there is no object. */
  default: Place | undefined;
}

/** What a loop and a condition judge a step by. */
export interface VerdictDraft {
  exitCode: { value: number; place: Place } | undefined;
  produced: Names;
}

export interface ConditionDraft {
  step: Name | undefined;
  verdict: VerdictDraft;
}

export class Draft {
  private readonly byId = new Map<string, StepDraft>();
  private readonly allIdsRead: boolean;

  constructor(
    readonly requires: readonly RequirementDraft[],
    /** False where some role could not be read: then a role that is not found may be that one. */
    readonly allRolesRead: boolean,
    readonly steps: readonly StepDraft[],
    allStepsRead: boolean,
    readonly conditions: readonly ConditionDraft[],
  ) {
    this.allIdsRead = allStepsRead && steps.every((step) => step.id !== undefined);
    for (const step of steps) {
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
