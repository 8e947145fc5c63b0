import type { CapabilityEntry } from '../../src/domain/matching/fleet.js';

/** Few nodes, for many runs. */
export const NODES = ['n1', 'n2', 'n3', 'n4', 'n5'];

const offer = (role: string, more: Record<string, string> = {}): CapabilityEntry => {
  return { capability: 'board', attrs: { role, ...more } };
};

/** All that they can have to offer. */
export const OFFERS = [
  offer('a'),
  offer('b'),
  offer('c'),
  offer('x'),
  offer('a', { fast: 'yes' }),
  offer('b', { fast: 'yes' }),
];
