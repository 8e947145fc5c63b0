import { type AnySchema, Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import { RE2JS } from 're2js';

/** `.{1000}` is seven characters and a thousand instructions: length alone bounds nothing, size alone is known too late. */
const LONGEST = 1_000;
const MOST_INSTRUCTIONS = 100_000;
/** What any pattern counts at least: the code around it takes its time to compile as well. */
const FEWEST_INSTRUCTIONS = 250;

/** Regular expressions that take time linear in the text (RE2), within one allowance for all of them. */
export class LinearPatterns {
  private readonly compiled = new Map<string, RE2JS>();
  private left = MOST_INSTRUCTIONS;

  /** Throws with a reason where the pattern is none, or one that only backtracking could run. */
  compile(pattern: string): RE2JS {
    const known = this.compiled.get(pattern);
    if (known !== undefined) return known;
    if (pattern.length > LONGEST) throw new Error(`it is longer than ${LONGEST} characters`);
    if (this.left <= 0) throw new Error('the patterns together are too large');
    const regexp = RE2JS.compile(RE2JS.translateRegExp(pattern));
    this.left -= Math.max(regexp.programSize(), FEWEST_INSTRUCTIONS);
    if (this.left < 0) throw new Error('the patterns together are too large');
    this.compiled.set(pattern, regexp);
    return regexp;
  }

  /** Why the pattern cannot be used; undefined where it can. */
  refusal(pattern: string): string | undefined {
    try {
      this.compile(pattern);
      return undefined;
    } catch (error) {
      return (error as Error).message;
    }
  }
}

const META_SCHEMA = 'https://json-schema.org/draft/2020-12/schema';

let compiled: ValidateFunction | undefined;
let patternsAtHand: LinearPatterns;

/**
 * The first thing in which a schema is none. Compiling the meta-schema takes 70 ms, so it is done once, at the first schema, and its
 * format `regex` asks the patterns of the schema at hand: nothing here is asynchronous, so there is only one.
 */
export function metaSchemaError(schema: unknown, patterns: LinearPatterns): ErrorObject | undefined {
  patternsAtHand = patterns;
  compiled ??= compileMetaSchema();
  return compiled(schema) ? undefined : compiled.errors?.[0];
}

/** Ajv's own copy of the meta-schema ignores formats; added as ordinary schemas, the same documents mind them. */
function compileMetaSchema(): ValidateFunction {
  const documents = Object.values(new Ajv2020().schemas).map((env) => env?.schema as AnySchema);
  const regex = (pattern: string): boolean => patternsAtHand.refusal(pattern) === undefined;
  const ajv = new Ajv2020({
    verbose: true,
    strict: false,
    logger: false,
    meta: false,
    validateSchema: false,
    formats: { regex },
  });
  return ajv.addSchema(documents).getSchema(META_SCHEMA)!;
}
