import type { Draft } from '../draft/draft.js';
import { quoted } from '../document/quoted.js';

export function judgeNeeds(draft: Draft): void {
  for (const step of draft.steps) {
    const seen = new Set<string>();
    for (const need of step.needs?.all ?? []) {
      if (seen.has(need.text)) {
        need.place.fault(`${quoted(need.text)} is already named here; name each step once.`);
        continue;
      }
      seen.add(need.text);
      const needed = draft.step(need);
      if (needed !== undefined && needed.seq >= step.seq) {
        need.place.fault(`A step may need only earlier steps; ${quoted(need.text)} does not come before this one.`);
      }
    }
  }
}
