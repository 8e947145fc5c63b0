import type { Requirement } from '../contract/contract.js';
import { namedNode } from './satisfies.js';

/** Why there is no assignment. Roles are given by their index in the contract. */
export interface Shortage {
  /** The first role that does not get its nodes once those before it have theirs. */
  at: number;
  /** The roles that compete for too few nodes, `at` among them. One alone, unless the run is spread. */
  together: number[];
  /** How many distinct nodes there are for all of these. */
  nodes: number;
}

const NAMED = 4;

/** Among which nodes they are too few: of the live ones, of those that exist, or, of so many live ones, of the free. */
export type ShortOf = 'live' | 'existing' | { live: number };

export function describeShortage(requires: readonly Requirement[], shortage: Shortage, of: ShortOf): string {
  const roles = shortage.together.map((role) => requires[role] as Requirement);
  const words = roles
    .slice(0, NAMED)
    .map((role) => `role ${JSON.stringify(role.as)} needs ${describeRequirement(role)}`);
  if (roles.length > NAMED) words.push(`${roles.length - NAMED} more roles need theirs`);
  const needed = roles.reduce((sum, role) => sum + (role.count ?? 1), 0);
  const each = roles.length === 1 ? '' : `, each on nodes of its own, ${needed} in all`;
  return `${capital(listed(words))}${each}; ${counted(shortage.nodes, of, roles.length === 1)}.`;
}

function counted(nodes: number, of: ShortOf, alone: boolean): string {
  const kind = of === 'existing' ? '' : 'live ';
  // Of several roles a node does not do what it says of any one of them.
  const does = (count: number): string =>
    `${kind}${count === 1 ? 'node' : 'nodes'} ${alone ? plural(count) : 'would do'}`;
  if (typeof of === 'string') {
    if (nodes === 0) return `no ${does(1)}`;
    return `only ${nodes} ${does(nodes)}${of === 'existing' ? ', silent ones included' : ''}`;
  }
  const { live } = of;
  if (live === 1) return `1 ${does(1)}, and it is not free`;
  return `${live} ${does(live)}, ${nodes === 0 ? 'none' : `only ${nodes}`} of them free`;
}

const SHOWN = 8;

/** For a sentence: `2 nodes that offer board with arch="arm64" and pmic="v2"`. Values are quoted: they are anybody's text. */
function describeRequirement(requirement: Requirement): string {
  const count = requirement.count ?? 1;
  const named = namedNode(requirement);
  const who = `${count} ${count === 1 ? 'node' : 'nodes'}${named === undefined ? '' : ` named ${JSON.stringify(named)}`}`;
  const attrs = Object.entries(requirement.attrs ?? {}).filter(([key]) => key !== 'node_id');
  const shown = attrs.slice(0, SHOWN).map(([key, value]) => `${key}=${JSON.stringify(value)}`);
  if (attrs.length > SHOWN) shown.push(`${attrs.length - SHOWN} more`);
  const verb = count === 1 ? 'offers' : 'offer';
  return `${who} that ${verb} ${requirement.capability}${shown.length === 0 ? '' : ` with ${listed(shown)}`}`;
}

/** `a`, `a and b`, `a, b and c`. */
export function listed(words: readonly string[]): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`;
}

const plural = (count: number): string => (count === 1 ? 'does' : 'do');
const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
