import type { Condition } from './contract/contract.js';
import type { StepNow } from './steps/step-now.js';
import type { Actor, Check, Ending, VerdictReason } from './verdict.js';
import type { FinalState } from './states.js';

/** What was uploaded in the last attempt of each step, by step. */
export type Uploaded = ReadonlyMap<number, ReadonlySet<string>>;

type JudgedStep = Pick<StepNow, 'seq' | 'id' | 'state' | 'chosen' | 'result'>;

/**
 * The end of a running run, or undefined while it goes on. A step that FAILED ends it at once; otherwise nothing is said
 * before every step has ended, and then every condition must hold. A condition on a skipped step holds unless a branch
 * had chosen the step; where every condition was skipped the run did nothing that was asked, and FAILED.
 */
export function settlement(
  steps: readonly JudgedStep[],
  conditions: readonly Condition[],
  uploaded: Uploaded,
  by: Actor,
): Ending | undefined {
  const failed = steps.find((step) => step.state === 'FAILED');
  if (failed) return ending('FAILED', 'step_failed', whyFailed(failed), by, [stepCheck(failed)]);
  if (!steps.every((step) => step.state === 'DONE' || step.state === 'SKIPPED')) return undefined;

  if (conditions.length === 0) {
    return ending('SUCCEEDED', 'succeeded', 'every step that was reached is done', by, steps.map(stepCheck));
  }
  const checks = conditions.flatMap((condition) => judge(condition, stepOf(condition, steps), uploaded));
  const unmet = checks.filter((check) => !check.ok);
  if (unmet.length > 0) {
    const names = unmet.map((check) => `${check.what} of step ${check.step}`).join(', ');
    return ending('FAILED', 'conditions_unmet', `success_when does not hold: ${names}`, by, checks);
  }
  if (conditions.every((condition) => stepOf(condition, steps).state === 'SKIPPED')) {
    const detail = 'every step that success_when names was skipped: nothing was done';
    return ending('FAILED', 'conditions_unmet', detail, by, checks);
  }
  return ending('SUCCEEDED', 'succeeded', 'every condition holds', by, checks);
}

function judge(condition: Condition, step: JudgedStep, uploaded: Uploaded): Check[] {
  if (step.state === 'SKIPPED') {
    if (!step.chosen) return [{ step: step.id, what: 'state', got: 'SKIPPED', ok: true }];
    return [{ step: step.id, what: 'state', want: 'DONE', got: 'SKIPPED', ok: false }];
  }
  const checks: Check[] = [];
  if (condition.exit_code !== undefined) {
    const got = step.result?.exit_code;
    checks.push({ step: step.id, what: 'exit_code', want: condition.exit_code, got, ok: got === condition.exit_code });
  }
  for (const name of condition.produced ?? []) {
    const ok = uploaded.get(step.seq)?.has(name) ?? false;
    checks.push({ step: step.id, what: 'produced', want: name, ...(ok && { got: name }), ok });
  }
  return checks;
}

function stepOf(condition: Condition, steps: readonly JudgedStep[]): JudgedStep {
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

function ending(state: FinalState, reason: VerdictReason, detail: string, by: Actor, checks: Check[]): Ending {
  return { state, verdict: { reason, detail, by, checks } };
}
