import { quoted } from '../../json/json-text.js';
import type { Draft, StepDraft, VerdictDraft } from '../draft.js';

/** `success_when`: each condition is on a step, and can be true of it. */
export function judgeConditions(draft: Draft): void {
  for (const condition of draft.conditions) {
    const step = condition.step && draft.step(condition.step);
    if (step !== undefined) judgeVerdict(step, condition);
  }
}

/** Whether what a loop or a condition asks of a step can be true of it at all. */
export function judgeVerdict(step: StepDraft, verdict: VerdictDraft): void {
  const { exit_code, produced } = verdict;
  if (exit_code !== undefined && step.kind !== undefined) {
    if (step.kind !== 'run') exit_code.fault(`Only a step with "run" has an exit code; this step has "${step.kind}".`);
    else if (exit_code.value !== 0 && !mayFail(step)) {
      exit_code.fault(
        'An exit code other than 0 fails the step; to expect one, set "allow_failure": true on the step.',
      );
    }
  }
  if (produced.all.length === 0 || !step.out.whole || step.kind === undefined) return;
  const outs = new Set(step.out.all.map((name) => name.text));
  for (const name of produced.all) {
    if (!outs.has(name.text))
      name.place.fault(`The step does not promise ${quoted(name.text)}; name an output from its "out".`);
  }
}

/** True also where what stands there is no boolean: that is its fault. */
function mayFail(step: StepDraft): boolean {
  const given = step.place.member('allow_failure');
  return given !== undefined && given.value !== false;
}
