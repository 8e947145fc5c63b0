import type { Draft } from '../draft/draft.js';
import type { Name } from '../document/place.js';
import { quoted } from '../document/quoted.js';

export function judgeUniqueNames(draft: Draft): void {
  refuseRepeated(
    [...draft.requires.map((requirement) => requirement.as), ...draft.steps.map((step) => step.acquire?.role)],
    'role',
  );
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
