import type { Name } from '../../json/json-place.js';
import { quoted } from '../../json/json-text.js';
import type { Draft } from '../draft.js';

/** No two roles, and no two steps, have one name. */
export function judgeNames(draft: Draft): void {
  refuseRepeated([...draft.roles, ...draft.steps.map((step) => step.acquire?.want?.as)], 'role');
  refuseRepeated(
    draft.steps.map((step) => step.id),
    'step',
  );
}

function refuseRepeated(names: readonly (Name | undefined)[], what: string): void {
  const seen = new Set<string>();
  for (const name of names) {
    if (name === undefined) continue;
    if (seen.has(name.text))
      name.place.fault(`There is already a ${what} ${quoted(name.text)}; each ${what} needs a name of its own.`);
    seen.add(name.text);
  }
}

/** `needs`: earlier steps, each once. */
export function judgeNeeds(draft: Draft): void {
  for (const step of draft.steps) {
    const seen = new Set<string>();
    for (const need of step.needs.all) {
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
