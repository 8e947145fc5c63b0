import type { FuncKeywordDefinition } from 'ajv/dist/2020.js';
import canonicalize from 'canonicalize';
import { countValues } from './count-values.js';

/** Ajv compares every pair of items; canonical JSON finds equals in one pass. What is in each item is told of before, its text after it is written. */
export function uniqueItems(meter: {
  spendValues(count: number): void;
  spendText(text: string): void;
}): FuncKeywordDefinition {
  const isUnique = (items: unknown[]): boolean => {
    const texts = new Set<string>();
    for (const item of items) {
      meter.spendValues(countValues(item));
      const text = canonicalize(item) ?? '';
      meter.spendText(text);
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
