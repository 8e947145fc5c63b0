import { _, type Ajv2020, type Code, type FuncKeywordDefinition, type KeywordCxt } from 'ajv/dist/2020.js';
import names from 'ajv/dist/compile/names.js';
import canonicalize from 'canonicalize';
import { countValues } from './is-light.js';
import type { LinearPatterns } from './linear-patterns.js';

/** A unit takes one to three nanoseconds: a fifth of a second for a small value, where somebody has made it as dear as it can be. */
const FEWEST_UNITS = 100_000_000;
/** An ordinary schema takes up to 130 of these for each byte of an output. */
const UNITS_PER_BYTE = 150;
const MOST_UNITS = 4_000_000_000;
const SUBSCHEMA = 16;
/** One that may fail while another holds: the failure is written down, and thrown away. */
const BRANCH = 256;
const REFERENCE = 128;
/** Of an object, wherever all of them are gone through. */
const KEY = 512;
/** Of a list in which one is to be found: each that is not it is written down. */
const SOUGHT = 512;
/** Of a list of which each is to be another. */
const ITEM = 1_000;
/** Of what stands in such an item. */
const NESTED = 400;
/** Per character: of a text that is counted, of one that is matched by a format, of one that is written canonically. */
const COUNTED = 8;
const FORMATTED = 16;
const WRITTEN = 20;
/** Per character and instruction of a pattern. */
const MATCHED = 60;

/** How much may be done to judge a value of so many bytes. */
export function unitsFor(bytes: number): number {
  return Math.min(MOST_UNITS, FEWEST_UNITS + UNITS_PER_BYTE * bytes);
}

/**
 * Counts what is done while one value is judged, before it is done. A schema is small and a value is not, but it is their product
 * that counts: without a meter, thirty definitions that each refer twice to the next take 2³⁰ steps, and one pattern of 200
 * classes two minutes for an output of 10 MiB.
 */
export class EvaluationMeter {
  private left = 0;

  constructor(
    private readonly patterns: LinearPatterns,
    private readonly most: number,
    private readonly mostErrors: number,
  ) {}

  /** What was spent since the last reset. */
  get spent(): number {
    return this.most - Math.max(0, this.left);
  }

  /** To be called before a value is judged. */
  reset(): void {
    this.left = this.most;
  }

  readonly spend = (units: number, errors = 0): void => {
    this.left -= units;
    if (this.left < 0) throw new TooCostly();
    if (errors > this.mostErrors) throw new TooManyErrors();
  };

  /** For what stands in an item of `uniqueItems`, at every level. */
  readonly spendValues = (count: number): void => this.spend(count * NESTED);

  /** For the canonical texts of `uniqueItems`. */
  readonly spendText = (text: string): void => this.spend(ITEM + text.length * WRITTEN);

  install(ajv: Ajv2020): void {
    for (const { rules } of ajv.RULES.rules) {
      for (const rule of rules) {
        const { definition, keyword } = rule;
        if (!('code' in definition) || !Object.hasOwn(COSTS, keyword)) continue;
        const code: typeof definition.code = (cxt, ruleType) => {
          const spend = cxt.gen.scopeValue('func', { ref: this.spend });
          cxt.gen.code(_`${spend}(${COSTS[keyword]!(cxt, this.patterns)}, ${names.default.errors})`);
          definition.code(cxt, ruleType);
        };
        rule.definition = { ...definition, code };
      }
    }
  }
}

export class TooCostly extends Error {}
export class TooManyErrors extends Error {}

type Cost = (cxt: KeywordCxt, patterns: LinearPatterns) => Code;

/** Of each subschema beside the value: what each of its other keywords takes is less than that. */
const subschemas: Cost = ({ schema }) => _`${SUBSCHEMA * (1 + Object.keys(schema as object).length)}`;
const branches: Cost = (cxt) => _`${BRANCH * Object.keys(cxt.schema as object).length} + ${keysOf(cxt, SUBSCHEMA)}`;
const elements: Cost = ({ data }) => _`${SUBSCHEMA} * (1 + ${data}.length)`;
const sought: Cost = ({ data }) => _`${SOUGHT} * (1 + ${data}.length)`;
const values: Cost = ({ schema }) => _`${SUBSCHEMA * (1 + countValues(schema))}`;
const characters: Cost = ({ data }) => _`${COUNTED} * (1 + ${data}.length)`;
const once: Cost = () => _`${SUBSCHEMA}`;
/** What follows a reference takes note of the keys that were judged, where something asks for those that were not. */
const reference: Cost = (cxt) => _`${REFERENCE} + ${keysOf(cxt, SUBSCHEMA)}`;
/** Each key is held against every pattern. */
const keys: Cost = (cxt, patterns) => {
  const held = Object.keys((cxt.parentSchema.patternProperties ?? {}) as object);
  const perCharacter = held.reduce((all, pattern) => all + perCharacterOf(pattern, patterns), 0);
  return keysOf(cxt, KEY * (1 + held.length), perCharacter);
};

const COSTS: Record<string, Cost> = {
  $ref: reference,
  $dynamicRef: reference,
  not: once,
  if: reference,
  allOf: subschemas,
  anyOf: branches,
  oneOf: branches,
  prefixItems: subschemas,
  properties: subschemas,
  dependentSchemas: subschemas,
  dependentRequired: values,
  required: values,
  enum: values,
  const: values,
  items: elements,
  contains: sought,
  unevaluatedItems: elements,
  additionalProperties: keys,
  patternProperties: keys,
  // Each name is a value of its own then.
  propertyNames: (cxt) => keysOf(cxt, 3 * KEY),
  unevaluatedProperties: keys,
  minProperties: keys,
  maxProperties: keys,
  minLength: characters,
  maxLength: characters,
  format: ({ data }) => _`${FORMATTED} * (1 + (${data}.length || 0))`,
  pattern: ({ data, schema }, patterns) => _`${perCharacterOf(String(schema), patterns)} * (1 + ${data}.length)`,
};

function perCharacterOf(pattern: string, patterns: LinearPatterns): number {
  return MATCHED * patterns.compile(pattern).programSize();
}

function keysOf({ gen, data }: KeywordCxt, perKey: number, perCharacter = 0): Code {
  const count = gen.scopeValue('func', { ref: unitsOfKeys });
  return _`${count}(${data}, ${perKey}, ${perCharacter})`;
}

function unitsOfKeys(data: unknown, perKey: number, perCharacter: number): number {
  if (typeof data !== 'object' || data === null || Array.isArray(data)) return 0;
  const names = Object.keys(data);
  if (perCharacter === 0) return names.length * perKey;
  return names.reduce((units, name) => units + perKey + name.length * perCharacter, 0);
}

/** Ajv compares every pair of items; canonical JSON finds equals in one pass. What is in each item is counted before, its text after it is written. */
export function uniqueItems(meter: EvaluationMeter): FuncKeywordDefinition {
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
