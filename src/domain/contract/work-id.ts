import type { Contract } from './contract.js';

/** What several runs are about, `<system>:<change_id>`; null where the contract does not say. */
export function workIdOf(contract: Contract): string | null {
  const { system, change_id: changeId } = contract.work ?? {};
  return typeof system === 'string' && typeof changeId === 'string' ? `${system}:${changeId}` : null;
}
