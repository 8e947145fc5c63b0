import type { Condition } from './contract/contract.js';
import type { FinalState, StepState, VerdictReason } from './states.js';

/** Why a run ended as it did, and by whom. */
export interface Verdict {
  reason: VerdictReason;
  /** A sentence for a person. */
  detail: string;
  by: Actor;
  checks: Check[];
}

export interface Actor {
  kind: 'person' | 'node' | 'server';
  name: string;
}

/** One thing that was judged. `want` and `got` are given where they say more than `ok`. */
export interface Check {
  step?: string;
  what: string;
  want?: unknown;
  got?: unknown;
  ok: boolean;
}

export const THE_SERVER: Actor = { kind: 'server', name: 'mediator' };

/** What a run's end is: the state it gets and the verdict that says why. */
export interface Ending {
  state: FinalState;
  verdict: Verdict;
}

/** A step as settlement sees it. */
export interface JudgedStep {
  id: string;
  state: StepState;
  chosen: boolean;
  result: { exit_code?: number; error?: string } | null;
}

/**
 * The end of a running run, or undefined while it goes on. A step that FAILED ends it at once; otherwise nothing is said
 * before every step has ended, and then every condition must hold. A condition on a skipped step holds unless a branch
 * had chosen the step; where every condition was skipped the run did nothing that was asked, and FAILED.
 */
export function settlement(steps: JudgedStep[], conditions: Condition[], by: Actor): Ending | undefined {
  const failed = steps.find((step) => step.state === 'FAILED');
  if (failed) return failure('step_failed', whyFailed(failed), by, [stepCheck(failed)]);
  if (!steps.every((step) => step.state === 'DONE' || step.state === 'SKIPPED')) return undefined;

  if (conditions.length === 0) {
    return ending('SUCCEEDED', 'succeeded', 'every step that was reached is done', by, steps.map(stepCheck));
  }
  const checks = conditions.flatMap((condition) => judge(condition, steps));
  const unmet = checks.filter((check) => !check.ok);
  if (unmet.length > 0) {
    const names = unmet.map((check) => `${check.what} of step ${check.step}`).join(', ');
    return failure('conditions_unmet', `not as success_when wants it: ${names}`, by, checks);
  }
  if (conditions.every((condition) => stepOf(condition, steps).state === 'SKIPPED')) {
    return failure('conditions_unmet', 'every step that success_when names was skipped: nothing was done', by, checks);
  }
  return ending('SUCCEEDED', 'succeeded', 'every condition holds', by, checks);
}

function judge(condition: Condition, steps: JudgedStep[]): Check[] {
  const step = stepOf(condition, steps);
  if (step.state === 'SKIPPED') {
    return [
      { step: step.id, what: 'skipped', want: step.chosen ? 'done' : undefined, got: 'SKIPPED', ok: !step.chosen },
    ];
  }
  const checks: Check[] = [];
  if (condition.exit_code !== undefined) {
    const got = step.result?.exit_code;
    checks.push({ step: step.id, what: 'exit_code', want: condition.exit_code, got, ok: got === condition.exit_code });
  }
  return checks;
}

function stepOf(condition: Condition, steps: JudgedStep[]): JudgedStep {
  const step = steps.find((one) => one.id === condition.step);
  if (step === undefined) throw new Error(`success_when names step ${condition.step}, which the run does not have`);
  return step;
}

function stepCheck(step: JudgedStep): Check {
  return { step: step.id, what: 'state', want: 'DONE', got: step.state, ok: step.state !== 'FAILED' };
}

function whyFailed({ id, result }: JudgedStep): string {
  if (result?.error !== undefined) return `step ${id} failed: ${result.error}`;
  return `step ${id} failed with exit code ${result?.exit_code}`;
}

function failure(reason: VerdictReason, detail: string, by: Actor, checks: Check[]): Ending {
  return ending('FAILED', reason, detail, by, checks);
}

function ending(state: FinalState, reason: VerdictReason, detail: string, by: Actor, checks: Check[]): Ending {
  return { state, verdict: { reason, detail, by, checks } };
}
