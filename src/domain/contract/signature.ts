import type { Requirement } from './contract.js';
import { contractHash } from './contract-hash.js';

/** Equal for two runs that need the same: where the matcher has no room for one, it has none for the other. */
export function signatureOf(requires: readonly Requirement[], spread = false): string {
  const needed = requires.map(({ as, capability, count = 1, attrs = {} }) => ({ as, capability, count, attrs }));
  return contractHash([needed, spread]);
}
