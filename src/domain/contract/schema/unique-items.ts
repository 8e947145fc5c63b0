import type { FuncKeywordDefinition } from 'ajv/dist/2020.js';
import canonicalize from 'canonicalize';

/** Ajv compares every pair of items; canonical JSON finds equals in one pass. */
export const uniqueItems: FuncKeywordDefinition = {
  keyword: 'uniqueItems',
  type: 'array',
  schemaType: 'boolean',
  error: { message: 'must NOT have duplicate items' },
  validate: (wanted: boolean, items: unknown[]) =>
    !wanted || new Set(items.map((item) => canonicalize(item))).size === items.length,
};
