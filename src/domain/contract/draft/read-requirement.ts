import type { Place } from '../document/place.js';
import { ATTRIBUTE, ATTRIBUTE_VALUE, CAPABILITY, ROLE } from '../names.js';
import type { RequirementDraft } from './draft.js';

const KEYS = ['as', 'capability', 'count', 'attrs'];
const MOST_NODES = 64;
const MOST_ATTRIBUTES = 32;

export function readRequirement(place: Place, mostNodes = MOST_NODES): RequirementDraft | undefined {
  if (place.closedObject(KEYS, 'A requirement is an object with "as" and "capability".') === undefined)
    return undefined;
  const as = place.required('as', ROLE.says)?.name(ROLE);
  place.required('capability', CAPABILITY.says)?.name(CAPABILITY);
  place.member('count')?.integer(1, mostNodes, countRule(mostNodes));
  readAttributes(place.member('attrs'));
  return { as };
}

function countRule(mostNodes: number): string {
  return mostNodes === 1
    ? 'An acquire takes one node: "count" is 1, or left out.'
    : `"count" is an integer from 1 to ${mostNodes}.`;
}

function readAttributes(attrs: Place | undefined): void {
  if (attrs?.object('"attrs" is an object that maps attribute names to strings.') === undefined) return;
  const members = attrs.members();
  if (members.length > MOST_ATTRIBUTES) attrs.fault(`"attrs" has at most ${MOST_ATTRIBUTES} attributes.`);
  for (const { key, place } of members.slice(0, MOST_ATTRIBUTES)) {
    if (ATTRIBUTE.accepts(key)) place.name(ATTRIBUTE_VALUE);
    else place.fault(ATTRIBUTE.says);
  }
}
