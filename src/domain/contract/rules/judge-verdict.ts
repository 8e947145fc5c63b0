import type { StepDraft, VerdictDraft } from '../draft/draft.js';
import { quoted } from '../document/quoted.js';

/** Whether what a loop or a condition asks of a step can be true of it at all. */
export function judgeVerdict(step: StepDraft, verdict: VerdictDraft): void {
  const { exitCode, produced } = verdict;
  if (exitCode !== undefined && step.kind !== undefined) {
    if (step.kind !== 'run')
      exitCode.place.fault(`Only a step with "run" has an exit code; this step has "${step.kind}".`);
    else if (exitCode.value !== 0 && step.allowFailure === false) {
      exitCode.place.fault(
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
