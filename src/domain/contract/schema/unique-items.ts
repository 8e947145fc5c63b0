import type { FuncKeywordDefinition } from 'ajv/dist/2020.js';
import canonicalize from 'canonicalize';

/** Ajv compares every pair of items; canonical JSON finds equals in one pass. Each text is told of as it is written. */
export function uniqueItems(wrote: (text: string) => void): FuncKeywordDefinition {
  const isUnique = (items: unknown[]): boolean => {
    const texts = new Set<string>();
    for (const item of items) {
      const text = canonicalize(item) ?? '';
      wrote(text);
      texts.add(text);
    }
    return texts.size === items.length;
  };
  return {
    keyword: 'uniqueItems',
    type: 'array',
    schemaType: 'boolean',
    error: { message: 'must NOT have duplicate items' },
    validate: (wanted: boolean, items: unknown[]) => !wanted || isUnique(items),
  };
}
