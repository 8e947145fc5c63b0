import { type AnySchema, Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import type { LinearPatterns } from './linear-patterns.js';

const ID = 'https://json-schema.org/draft/2020-12/schema';

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
  return ajv.addSchema(documents).getSchema(ID)!;
}
