import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';

/** SHA-256, in hex, of the canonical JSON (RFC 8785): equal for contracts that differ in the order of keys or in white space only. */
export function contractHash(contract: unknown): string {
  return createHash('sha256')
    .update(canonicalize(contract) ?? '')
    .digest('hex');
}
