import type { JsonPlace, Name, TextRule } from '../../json/json-place.js';

/** A JSON Schema (2020-12) as the API document holds it. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/**
 * What may stand at a place of a contract, declared once. The parser reads it, and the API document describes it, from the
 * same limits; its type in TypeScript is `Value`.
 */
export interface Shape<Value = unknown, Draft = unknown> {
  /** What could be read of what stands there. What is wrong with it by itself is noted at its place. */
  read(place: JsonPlace): Draft;
  /** What the rules see where nothing stands there. */
  readonly absent: Draft;
  /** What the rules see where something should stand there and does not, or could not be read. */
  readonly unread: Draft;
  readonly schema: JsonSchema;
  /** The schemas that `schema` refers to, by name. */
  readonly named: Readonly<Record<string, JsonSchema>>;
  /** Carries the type, and is never there. */
  readonly value?: Value;
}

export type ValueOf<S> = S extends Shape<infer Value> ? Value : never;
export type DraftOf<S> = S extends Shape<unknown, infer Draft> ? Draft : never;

/**
 * The elements of an array that could be read. Not `whole`: some could not, so what is missing proves nothing. Not `given`:
 * there is no such array, which need not mean the same as an empty one.
 */
export interface Several<T> {
  all: readonly T[];
  whole: boolean;
  given: boolean;
}

/** How a name or text is spelt: as the parser judges it, and as the API document tells it. */
export interface Spelling extends TextRule {
  schema: JsonSchema & { readonly pattern?: string };
}

export function text(spelling: Spelling): Shape<string, Name | undefined> {
  return single({ type: 'string', ...spelling.schema }, (place) => place.name(spelling));
}

/** `says` is given the range in words: `from 1 to 64`. */
export function integer(
  least: number,
  most: number,
  says: (range: string) => string,
): Shape<number, JsonPlace | undefined> {
  const schema = { type: 'integer', minimum: least, maximum: most };
  const sentence = says(`from ${least} to ${most}`);
  return single(schema, (place) => (place.integer(least, most, sentence) === undefined ? undefined : place));
}

export function flag(says: string): Shape<boolean, JsonPlace | undefined> {
  return single({ type: 'boolean' }, (place) => (place.boolean(says) === undefined ? undefined : place));
}

interface Bounds {
  least?: number;
  most?: number;
  /** No element stands there twice. A rule says so, in its own words. */
  unique?: true;
  says: string;
}

export function list<Value, Draft>(
  of: Shape<Value, Draft>,
  bounds: Bounds,
): Shape<Value[], Several<NonNullable<Draft>>> {
  const { least = 0, most = Infinity, unique, says } = bounds;
  const unread = { all: [], whole: false, given: true };
  return {
    read: (place) => {
      const elements = place.elements(least, most, says);
      if (elements === undefined) return unread;
      const all = elements.map((element) => of.read(element)).filter((one) => one != null);
      return { all, whole: all.length === (place.value as unknown[]).length, given: true };
    },
    absent: { all: [], whole: true, given: false },
    unread,
    schema: {
      type: 'array',
      items: of.schema,
      ...(least > 0 && { minItems: least }),
      ...(most < Infinity && { maxItems: most }),
      ...(unique && { uniqueItems: true }),
    },
    named: of.named,
  };
}

/** The name of a schema in the API document, and what it says there. */
export interface Named {
  name: string;
  about: string;
}

/** An object that is taken as it is; `inside` says in JSON Schema what a rule will judge in it. */
export function anyObject(
  { name, about }: Named,
  says: string,
  inside: unknown = true,
): Shape<Record<string, unknown>, JsonPlace | undefined> {
  const schema = { type: 'object', description: about, additionalProperties: inside };
  return { ...single(refTo(name), (place) => place.object(says)), named: { [name]: schema } };
}

interface MapBounds<Value> extends Named {
  keys: Spelling;
  values: Shape<Value>;
  most: number;
  says: string;
  tooMany: string;
}

/** An object from names to values. */
export function map<Value>(declared: MapBounds<Value>): Shape<Record<string, Value>, JsonPlace | undefined> {
  const { name, about, keys, values, most, says, tooMany } = declared;
  const schema = {
    type: 'object',
    description: about,
    maxProperties: most,
    propertyNames: keys.schema,
    additionalProperties: values.schema,
  };
  const read = (place: JsonPlace): JsonPlace | undefined => {
    if (place.object(says) === undefined) return undefined;
    const members = place.members();
    if (members.length > most) place.fault(tooMany);
    for (const { key, place: member } of members.slice(0, most)) {
      if (keys.accepts(key)) values.read(member);
      else member.fault(keys.says);
    }
    return place;
  };
  return { ...single(refTo(name), read), named: { [name]: schema, ...values.named } };
}

/** The schema of that name in the API document. */
export function refTo(name: string): JsonSchema {
  return { $ref: `#/components/schemas/${name}` };
}

function single<Value, Draft>(
  schema: JsonSchema,
  read: (place: JsonPlace) => Draft | undefined,
): Shape<Value, Draft | undefined> {
  return { read, absent: undefined, unread: undefined, schema, named: {} };
}
