import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';
import type { Contract, Requirement } from './contract.js';

/** SHA-256, in hex, of the canonical JSON (RFC 8785): equal for contracts that differ in the order of keys or in white space only. */
export function contractHash(contract: unknown): string {
  return createHash('sha256')
    .update(canonicalize(contract) ?? '')
    .digest('hex');
}

/** Equal for two runs that need the same: where the matcher has no room for one, it has none for the other. */
export function signatureOf(requires: readonly Requirement[], spread = false): string {
  const needed = requires.map(({ as, capability, count = 1, attrs = {} }) => ({ as, capability, count, attrs }));
  return contractHash([needed, spread]);
}

/** What several runs are about, `<system>:<change_id>`; null where the contract does not say. */
export function workIdOf(contract: Contract): string | null {
  const { system, change_id: changeId } = contract.work ?? {};
  return typeof system === 'string' && typeof changeId === 'string' ? `${system}:${changeId}` : null;
}
