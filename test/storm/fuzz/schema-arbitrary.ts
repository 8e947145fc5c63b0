import fc from 'fast-check';
import { OPENAPI } from '../../support/openapi.js';
import { ODD_TEXTS } from './odd-values.js';

const DEEPEST = 6;

/**
 * Values that fit a schema of the document, as far as this reads schemas: what the document says with them. Whether the
 * server takes them is up to the rules that no schema tells.
 */
export function arbitraryOf(schema: any, depth = 0): fc.Arbitrary<unknown> {
  if (schema === true || depth > DEEPEST) return fc.constant({});
  if (schema.$ref !== undefined) return arbitraryOf(resolve(schema.$ref as string), depth + 1);
  if (schema.enum !== undefined) return fc.constantFrom(...(schema.enum as unknown[]));
  const choices: any[] | undefined = schema.oneOf ?? schema.anyOf;
  if (choices !== undefined) return fc.oneof(...choices.map((one) => arbitraryOf(one, depth + 1)));
  const types = [schema.type ?? 'object'].flat() as string[];
  return types.length === 1
    ? typed(types[0]!, schema, depth)
    : fc.oneof(...types.map((type) => typed(type, schema, depth)));
}

function resolve(pointer: string): unknown {
  return pointer
    .slice(2)
    .split('/')
    .reduce((at, key) => at[key], OPENAPI);
}

function typed(type: string, schema: any, depth: number): fc.Arbitrary<unknown> {
  switch (type) {
    case 'null':
      return fc.constant(null);
    case 'boolean':
      return fc.boolean();
    case 'integer':
      return integers(schema);
    case 'number':
      return fc.double({ noNaN: true, noDefaultInfinity: true, min: schema.minimum, max: schema.maximum });
    case 'string':
      return texts(schema);
    case 'array':
      return arrays(schema, depth);
    default:
      return objects(schema, depth);
  }
}

/** Mostly within the bounds that are named, and often at them. */
function integers({ minimum = -1_000_000, maximum = 1_000_000_000 }: any): fc.Arbitrary<number> {
  return fc.oneof(
    fc.constantFrom<number>(minimum, maximum),
    fc.integer({ min: minimum, max: Math.min(maximum, minimum + 5) }),
  );
}

function texts({ pattern, minLength = 0, maxLength = 30 }: any): fc.Arbitrary<string> {
  if (pattern !== undefined) return fc.oneof(matching(pattern as string), fc.constantFrom('a', 'a1', 'board'));
  const sized = fc.string({ unit: 'grapheme', minLength, maxLength: Math.min(maxLength, 30) });
  return fc.oneof(sized, fc.constantFrom('a'.repeat(Math.min(maxLength, 4000)), ...ODD_TEXTS.slice(6, 12)));
}

/** A pattern that looks ahead is more than fast-check reads: what it forbids is rare, and never drawn here. */
function matching(pattern: string): fc.Arbitrary<string> {
  return fc.stringMatching(new RegExp(pattern.replace(/\(\?![^)]*\)/g, ''), 'u'), { size: 'xsmall' });
}

function arrays(
  { items = true, minItems = 0, maxItems = 4, uniqueItems }: any,
  depth: number,
): fc.Arbitrary<unknown[]> {
  const size = { minLength: minItems, maxLength: Math.min(maxItems, minItems + 2) };
  const of = arbitraryOf(items, depth + 1);
  return uniqueItems ? fc.uniqueArray(of, size) : fc.array(of, size);
}

function objects(schema: any, depth: number): fc.Arbitrary<unknown> {
  const { properties = {}, required = [], additionalProperties, propertyNames } = schema;
  const known = fc.record(
    Object.fromEntries(Object.entries(properties).map(([name, one]) => [name, arbitraryOf(one, depth + 1)])),
    { requiredKeys: required as string[] },
  );
  if (typeof additionalProperties !== 'object') return known;
  const keys = propertyNames === undefined ? fc.constantFrom('a', 'role', 'o1') : texts(propertyNames);
  return fc.dictionary(keys, arbitraryOf(additionalProperties, depth + 1), { maxKeys: 3 });
}
