import type { Draft } from '../draft/draft.js';
import { judgeVerdict } from './judge-verdict.js';

export function judgeConditions(draft: Draft): void {
  for (const { step: name, verdict } of draft.conditions) {
    const step = name === undefined ? undefined : draft.step(name);
    if (step !== undefined) judgeVerdict(step, verdict);
  }
}
