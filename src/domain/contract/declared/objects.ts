import type { JsonPlace } from '../../json/json-place.js';
import { type DraftOf, type JsonSchema, type Named, refTo, type Shape, type ValueOf } from './shape.js';

/** A member of an object. */
export interface Field<S extends Shape = Shape> {
  shape: S;
  /** What it means to whoever writes a contract: its description in the API document. */
  means: string;
  /** It must be there: what is said where it is not. */
  required?: string;
}

export type Fields = Readonly<Record<string, Field>>;

type Flat<T> = { [Key in keyof T]: T[Key] };
type Required<F> = { [Key in keyof F]: F[Key] extends { required: string } ? Key : never }[keyof F];

export type ObjectValue<F extends Fields> = Flat<
  { [Key in Required<F>]: ValueOf<F[Key]['shape']> } & {
    [Key in Exclude<keyof F, Required<F>>]?: ValueOf<F[Key]['shape']>;
  }
>;
export type ObjectDraft<F extends Fields> = { place: JsonPlace } & { [Key in keyof F]: DraftOf<F[Key]['shape']> };

/** Where `given` stands, `needed` stands, too; where it does not, that is a fault there, or of what is given. */
interface Together {
  given: string;
  needed: string;
  says: string;
  at?: 'given';
}

interface ObjectDeclaration<F extends Fields> extends Named {
  fields: F;
  /** What is said of something that is no object. */
  says: string;
  /** At least one of the fields that are not required is there: what is said where none is. */
  some?: string;
  together?: readonly Together[];
  /** Members that are not declared are taken as they are. */
  open?: true;
}

export interface ObjectShape<F extends Fields = Fields> extends Shape<ObjectValue<F>, ObjectDraft<F> | undefined> {
  declared: ObjectDeclaration<F>;
}

export function object<const F extends Fields>(declared: ObjectDeclaration<F>): ObjectShape<F> {
  const { name, fields, says, some, together = [], open } = declared;
  const keys = Object.keys(fields);
  const optional = keys.filter((key) => fields[key]!.required === undefined);

  const read = (place: JsonPlace): ObjectDraft<F> => {
    const found = open ? place.object(says) : place.closedObject(keys, says);
    if (found === undefined) return unreadDraft(place, fields) as ObjectDraft<F>;
    if (some !== undefined && optional.every((key) => place.member(key) === undefined)) place.fault(some);
    const draft = Object.fromEntries(keys.map((key) => [key, readField(place, key, fields[key]!)]));
    judgeTogether(place, together);
    return { ...draft, place } as ObjectDraft<F>;
  };
  const schema = describeObject(declared);
  return {
    read,
    absent: undefined,
    unread: undefined,
    schema: refTo(name),
    named: { ...namedIn(fields), [name]: schema },
    declared,
  };
}

export function unreadDraft(place: JsonPlace, fields: Fields): object {
  const unread = Object.entries(fields).map(([key, { shape }]): [string, unknown] => [key, shape.unread]);
  return { ...Object.fromEntries<unknown>(unread), place };
}

export function readField(place: JsonPlace, key: string, { shape, required }: Field): unknown {
  if (required === undefined) {
    const member = place.member(key);
    return member === undefined ? shape.absent : shape.read(member);
  }
  const member = place.required(key, required);
  return member === undefined ? shape.unread : shape.read(member);
}

export function judgeTogether(place: JsonPlace, together: readonly Together[]): void {
  for (const { given, needed, says, at } of together) {
    const there = place.member(given);
    if (there === undefined || place.member(needed) !== undefined) continue;
    if (at === 'given') there.fault(says);
    else place.required(needed, says);
  }
}

/** The object as the API document describes it. */
function describeObject({ about, fields, some, together = [], open }: ObjectDeclaration<Fields>): JsonSchema {
  const entries = Object.entries(fields);
  const required = entries.filter(([, field]) => field.required !== undefined).map(([key]) => key);
  const properties = entries.map(([key, { shape, means }]) => [key, { ...shape.schema, description: means }]);
  return {
    type: 'object',
    description: about,
    properties: Object.fromEntries(properties),
    ...(required.length > 0 && { required }),
    ...(some !== undefined && { minProperties: required.length + 1 }),
    ...(together.length > 0 && {
      dependentRequired: Object.fromEntries(together.map(({ given, needed }) => [given, [needed]])),
    }),
    additionalProperties: open ?? false,
  };
}

function namedIn(fields: Fields): Record<string, JsonSchema> {
  return Object.assign({}, ...Object.values(fields).map(({ shape }) => shape.named)) as Record<string, JsonSchema>;
}
