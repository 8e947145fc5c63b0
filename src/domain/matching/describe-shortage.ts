import type { Requirement } from '../contract/contract.js';
import { describeRequirement } from './describe-requirement.js';
import { listed } from './listed.js';
import type { Shortage } from './shortage.js';

const NAMED = 4;

/** `live`: how many nodes there are for them at all, where the shortage is one of free nodes. */
export function describeShortage(requires: readonly Requirement[], shortage: Shortage, live?: number): string {
  const roles = shortage.together.map((role) => requires[role] as Requirement);
  const words = roles
    .slice(0, NAMED)
    .map((role) => `role ${JSON.stringify(role.as)} needs ${describeRequirement(role)}`);
  if (roles.length > NAMED) words.push(`${roles.length - NAMED} more roles need theirs`);
  const needed = roles.reduce((sum, role) => sum + (role.count ?? 1), 0);
  const each = roles.length === 1 ? '' : `, each on nodes of its own, ${needed} in all`;
  return `${capital(listed(words))}${each}; ${existing(shortage.nodes, live, roles.length === 1)}.`;
}

function existing(nodes: number, live: number | undefined, alone: boolean): string {
  // Of several roles a node does not do what it says of any one of them.
  const does = (count: number): string =>
    `live ${count === 1 ? 'node' : 'nodes'} ${alone ? plural(count) : 'would do'}`;
  if (live === undefined) return nodes === 0 ? `no ${does(1)}` : `only ${nodes} ${does(nodes)}`;
  if (live === 1) return `1 ${does(1)}, and it is not free`;
  return `${live} ${does(live)}, ${nodes === 0 ? 'none' : `only ${nodes}`} of them free`;
}

const plural = (count: number): string => (count === 1 ? 'does' : 'do');
const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
