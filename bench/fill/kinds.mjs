/*
 * What filled runs are: contracts, and what the program derives from a contract before it stores a run. It is asked for that
 * itself, so a column that is new among the derived ones is filled as soon as the program gives it.
 */
import { contractHash } from '../../dist/src/domain/contract/contract-identity.js';
import { CONTRACT_LIMITS } from '../../dist/src/domain/contract/parse-contract.js';
import { readJson } from '../../dist/src/domain/json/read-json.js';
import { newRunOf } from '../../dist/src/submission/new-run.js';

/** A node's features: 14 yes-or-no attributes make 16,383 requirements that differ, and that every node meets. */
const FEATURES = Array.from({ length: 14 }, (_, index) => `f${String(index).padStart(2, '0')}`);
export const EVERY_FEATURE = Object.fromEntries(FEATURES.map((name) => [name, 'y']));

/** The contract that every figure uses: one role, one step. */
export function contractOf(requirement) {
  return {
    requires: [{ as: 'board', ...requirement }],
    steps: [{ id: 'only', uses: 'board', run: ['make', 'check'] }],
  };
}

/** A contract with all that is stored beside it; runs of one kind differ in their id only. */
export function kindOf(contract) {
  const { text, value } = readJson(Buffer.from(JSON.stringify(contract)), CONTRACT_LIMITS);
  const derived = newRunOf(value, { text, hash: contractHash(value), principal: 'bench' });
  // The column has the name that servers of an earlier version know.
  derived.alone = derived.serverSteps;
  delete derived.run_id;
  delete derived.principal;
  const { requires, spread = false } = derived.contract;
  return { ...derived, requires, spread };
}

/** Runs on any board. */
export const ANY_BOARD = kindOf(contractOf({ capability: 'board', attrs: { f00: 'y' } }));

/** What the statements here name, and the text that the contract is stored by; whatever else is derived is taken as it comes, a column of `runs` of the same name. */
const NAMED = new Set([
  'contract',
  'text',
  'contract_hash',
  'requires',
  'spread',
  'signature',
  'work_id',
  'serverSteps',
]);
const TYPES = { string: 'text', boolean: 'boolean', number: 'bigint' };
export const DERIVED = Object.entries(ANY_BOARD)
  .filter(([name]) => !NAMED.has(name))
  .map(([name, value]) => ({ name, type: TYPES[typeof value] }));

/** Runs on this node and no other, so that no two of them want the same one. */
export const onNode = (nodeId) => kindOf(contractOf({ capability: 'board', attrs: { node_id: nodeId } }));

/** What the node that is released can be used for, next. */
export const NEXT_IN_LINE = kindOf(contractOf({ capability: 'hot' }));

/**
 * So many kinds that cannot go, each with a signature of its own. Those that do not touch the released node want a board,
 * all of which are taken; those that touch it want two nodes of its sort, of which one is never free.
 */
export function blockedKinds(signatures, touching) {
  return Array.from({ length: signatures }, (_, index) => {
    const bits = (index % (2 ** FEATURES.length - 1)) + 1;
    const attrs = Object.fromEntries(FEATURES.filter((_, bit) => bits & (1 << bit)).map((name) => [name, 'y']));
    const touches = index >= signatures * (1 - touching);
    return kindOf(contractOf(touches ? { capability: 'hot', count: 2, attrs } : { capability: 'board', attrs }));
  });
}
