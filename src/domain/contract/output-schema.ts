import { Ajv2020, type ErrorObject, MissingRefError } from 'ajv/dist/2020.js';
import type { Fault } from '../json/fault-list.js';
import { quoted } from '../json/json-text.js';
import { EvaluationMeter, TooCostly, TooManyErrors, uniqueItems, unitsFor } from './schema/evaluation-meter.js';
import { LinearPatterns, metaSchemaError } from './schema/linear-patterns.js';
import { schemaFormats } from './schema/schema-formats.js';

const MOST_BYTES = 32 * 1024;
const MOST_FAULTS = 100;
/** With all faults wanted, this many are enough: every one more is memory, and a value may have millions. */
const MOST_ERRORS = 1_000;
const DIALECT = /^https:\/\/json-schema\.org\/draft\/2020-12\/schema#?$/;

/** Says what is wrong with a value, by pointers into it: nothing where it satisfies the schema. */
export type ValueCheck = (value: unknown) => Fault[];

/** What was found in a value. */
export interface Judgement {
  faults: Fault[];
  /** What it took, in units of the meter. */
  spent: number;
  /** It took too much: by a larger allowance something else may be found. */
  gaveUp: boolean;
}

export interface SchemaJudge {
  ok: true;
  check: ValueCheck;
  judge: (value: unknown) => Judgement;
}

/** The pointer of the fault leads into the schema. */
export type CompiledSchema = SchemaJudge | { ok: false; fault: Fault };

export interface SchemaOptions {
  /** Every fault of a value, for a form; otherwise the first. An upload of 10 MiB may have millions. */
  allErrors?: boolean;
  /** An allowance shared with other schemas. */
  patterns?: LinearPatterns;
  /** How much may be done to judge one value; by default what a small value may take. */
  units?: number;
  /** The schema is one that was accepted before: that it is one is not asked again. */
  accepted?: boolean;
}

/**
 * Compiles the JSON Schema (2020-12) of an output; never throws. Whoever wrote it is not trusted: patterns run in linear time,
 * references stay inside, and what a value takes is counted. Nothing is kept: each schema has an Ajv of its own, since one that is shared holds on to
 * every schema it ever saw, and an `$id` in one could stand in for another.
 */
export function compileOutputSchema(schema: unknown, options: SchemaOptions = {}): CompiledSchema {
  const patterns = options.patterns ?? new LinearPatterns();
  try {
    const fault = options.accepted ? undefined : schemaFault(schema, patterns);
    if (fault !== undefined) return { ok: false, fault };
    return compile(schema as object, { ...options, patterns });
  } catch (error) {
    return { ok: false, fault: { pointer: '', detail: compileSentence(error) } };
  }
}

type Compiling = SchemaOptions & { patterns: LinearPatterns };

function compile(schema: object, options: Compiling): SchemaJudge {
  const { patterns, allErrors = false, units = unitsFor(0) } = options;
  const meter = new EvaluationMeter(patterns, units, allErrors ? MOST_ERRORS : Infinity);
  const regExp = Object.assign((pattern: string) => patterns.compile(pattern), { code: 'linear' });
  const ajv = new Ajv2020({
    strict: false,
    logger: false,
    meta: false,
    validateSchema: false,
    formats: schemaFormats,
    // Inlined, a large definition would be compiled once for each reference to it.
    inlineRefs: false,
    allErrors,
    // What a value inherits, such as `constructor`, is none of its properties.
    ownProperties: true,
    // Ajv's optimizer takes five times as long as the rest, and what it compiles here runs seldom.
    code: { optimize: false, regExp },
  });
  ajv.removeKeyword('uniqueItems').addKeyword(uniqueItems(meter));
  meter.install(ajv);
  const validate = ajv.compile(schema);
  if ('$async' in validate) throw new Error('"$async" is not a keyword of JSON Schema');

  const judge = (value: unknown): Judgement => {
    meter.reset();
    try {
      const faults = validate(value) ? [] : faultsOf(validate.errors ?? []);
      return { faults, spent: meter.spent, gaveUp: false };
    } catch (error) {
      if (error instanceof TooManyErrors) return judgeForFirst(value, meter.spent);
      const faults = [{ pointer: '', detail: checkSentence(error) }];
      return { faults, spent: meter.spent, gaveUp: error instanceof TooCostly };
    }
  };
  // The first fault is known by its name only where judging stops at it. There no number of errors ends it: most of them are
  // of branches that were left again, and what they take is on the meter.
  const judgeForFirst = (value: unknown, spent: number): Judgement => {
    const first = compile(schema, { ...options, allErrors: false, units: Math.max(0, units - spent) }).judge(value);
    return { ...first, spent: spent + first.spent };
  };
  return { ok: true, judge, check: (value) => judge(value).faults };
}

/** At most as many as are shown; where there are more, the last one says so. */
function faultsOf(errors: ErrorObject[]): Fault[] {
  if (errors.length <= MOST_FAULTS) return errors.map(valueFault);
  const more = `There are more faults than the ${MOST_FAULTS - 1} listed; fix these first.`;
  return [...errors.slice(0, MOST_FAULTS - 1).map(valueFault), { pointer: '', detail: more }];
}

function schemaFault(schema: unknown, patterns: LinearPatterns): Fault | undefined {
  return sizeFault(schema) ?? dialectFault(schema) ?? metaSchemaFault(schema, patterns);
}

function sizeFault(schema: unknown): Fault | undefined {
  if (Buffer.byteLength(JSON.stringify(schema) ?? '') <= MOST_BYTES) return undefined;
  return { pointer: '', detail: `A schema is at most ${MOST_BYTES} bytes (32 KiB) of JSON.` };
}

function dialectFault(schema: unknown): Fault | undefined {
  if (typeof schema !== 'object' || schema === null || !Object.hasOwn(schema, '$schema')) return undefined;
  const { $schema: dialect } = schema as { $schema: unknown };
  if (typeof dialect === 'string' && DIALECT.test(dialect)) return undefined;
  return {
    pointer: '/$schema',
    detail: 'The only dialect is "https://json-schema.org/draft/2020-12/schema"; name it or leave "$schema" out.',
  };
}

function metaSchemaFault(schema: unknown, patterns: LinearPatterns): Fault | undefined {
  const error = metaSchemaError(schema, patterns);
  return error && { pointer: error.instancePath, detail: schemaSentence(error, patterns) };
}

function schemaSentence(error: ErrorObject, patterns: LinearPatterns): string {
  const pattern = error.propertyName ?? error.data;
  if (error.params.format !== 'regex' || typeof pattern !== 'string')
    return `Not a JSON Schema (2020-12): it ${error.message}.`;
  return `The pattern ${quoted(pattern)} cannot be run in linear time by RE2: ${patterns.refusal(pattern)}.`;
}

function compileSentence(error: unknown): string {
  if (error instanceof RangeError) return 'The schema is nested too deep to be compiled.';
  if (error instanceof MissingRefError)
    return `A "$ref" may point only within its own schema ("#/…"); ${quoted(error.missingRef)} does not.`;
  return `The schema does not compile as JSON Schema 2020-12: ${(error as Error).message}.`;
}

function checkSentence(error: unknown): string {
  if (error instanceof TooCostly) return 'For a value of this size, the schema asks for more than can be judged.';
  if (error instanceof RangeError) return 'The value is nested too deep to be judged.';
  throw error;
}

function valueFault(error: ErrorObject): Fault {
  const extra: unknown = error.params.additionalProperty ?? error.params.unevaluatedProperty;
  const which = typeof extra === 'string' ? `, such as ${quoted(extra)}` : '';
  return { pointer: error.instancePath, detail: `The value ${error.message}${which}.` };
}
