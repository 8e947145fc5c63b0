import type { Requirement } from '../contract/contract.js';
import { listed } from './listed.js';
import { namedNode } from './named-node.js';

const SHOWN = 8;

/** For a sentence: `2 nodes that offer board with arch="arm64" and pmic="v2"`. Values are quoted: they are anybody's text. */
export function describeRequirement(requirement: Requirement): string {
  const count = requirement.count ?? 1;
  const named = namedNode(requirement);
  const who = `${count} ${count === 1 ? 'node' : 'nodes'}${named === undefined ? '' : ` named ${JSON.stringify(named)}`}`;
  const attrs = Object.entries(requirement.attrs ?? {}).filter(([key]) => key !== 'node_id');
  const shown = attrs.slice(0, SHOWN).map(([key, value]) => `${key}=${JSON.stringify(value)}`);
  if (attrs.length > SHOWN) shown.push(`${attrs.length - SHOWN} more`);
  const verb = count === 1 ? 'offers' : 'offer';
  return `${who} that ${verb} ${requirement.capability}${shown.length === 0 ? '' : ` with ${listed(shown)}`}`;
}
