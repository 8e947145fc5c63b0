import type { JsonPlace } from '../../json/json-place.js';
import { type Field, type Fields, judgeTogether, type ObjectShape, readField, unreadDraft } from './objects.js';
import { type DraftOf, type JsonSchema, type Named, refTo, type Shape, type ValueOf } from './shape.js';

type Kinds = Readonly<Record<string, ObjectShape>>;
type Union<K extends Kinds> = { [Kind in keyof K]: ValueOf<K[Kind]> }[keyof K];
type Drafts<K extends Kinds> = { [Kind in keyof K]: NonNullable<DraftOf<K[Kind]>> }[keyof K];
type Every<Of> = (Of extends unknown ? (one: Of) => void : never) extends (one: infer All) => void ? All : never;
type Flat<T> = { [Key in keyof T]: T[Key] };

/** What is required of every kind, and what any may have. */
export type ChoiceValue<K extends Kinds> = Flat<Pick<Union<K>, keyof Union<K>> & Partial<Every<Union<K>>>>;
/** Of whatever kind it is, every field has its draft. No kind: none or more than one stands there. */
export type ChoiceDraft<K extends Kinds> = Flat<{ kind: keyof K | undefined } & Every<Drafts<K>>>;

interface ChoiceDeclaration<K extends Kinds> extends Named {
  /** What it is called in a sentence. */
  noun: string;
  kinds: K;
  /** What is said of something that is no object. */
  says: string;
}

export interface ChoiceShape<K extends Kinds> extends Shape<ChoiceValue<K>, ChoiceDraft<K> | undefined> {
  kinds: K;
}

/**
 * An object of one of several kinds: it is of the kind whose own key it has. Presence counts, whatever stands there. Where
 * the kind is not known, what any kind may have is read all the same.
 */
export function choice<const K extends Kinds>(declared: ChoiceDeclaration<K>): ChoiceShape<K> {
  const { name, about, noun, kinds, says } = declared;
  const words = Object.keys(kinds);
  const fieldsOf = (kind: string): Fields => kinds[kind]!.declared.fields;
  const anywhere = fieldsOfAny(words.map(fieldsOf));
  const togetherAnywhere = [...new Set(words.flatMap((kind) => kinds[kind]!.declared.together ?? []))];

  const readKind = (place: JsonPlace): string | undefined => {
    const present = words.filter((kind) => place.member(kind) !== undefined);
    if (present.length === 1) return present[0];
    const found = present.length === 0 ? 'has none' : `has ${present.map(inQuotes).join(' and ')}`;
    const [last, ...others] = words.map(inQuotes).reverse();
    return place.fault(`A ${noun} has exactly one of ${others.reverse().join(', ')} and ${last}; this one ${found}.`);
  };
  /** A field in the wrong place is refused for that, and not read: what it says does not matter. */
  const refuse = (place: JsonPlace, key: string, kind: string): void => {
    const owners = words.filter((word) => Object.hasOwn(fieldsOf(word), key)).map(inQuotes);
    const detail = `"${key}" is not allowed on a ${noun} with "${kind}"; it belongs to ${owners.join(', ')}.`;
    place.member(key)?.fault(detail);
  };
  const read = (place: JsonPlace): unknown => {
    if (place.closedObject(Object.keys(anywhere), says) === undefined) {
      return { ...unreadDraft(place, anywhere), kind: undefined };
    }
    const kind = readKind(place);
    const fields = kind === undefined ? anywhere : fieldsOf(kind);
    const draft = Object.entries(anywhere).map(([key, { shape }]): [string, unknown] => {
      if (Object.hasOwn(fields, key)) return [key, readField(place, key, fields[key]!)];
      refuse(place, key, kind!);
      return [key, shape.absent];
    });
    judgeTogether(place, kind === undefined ? togetherAnywhere : (kinds[kind]!.declared.together ?? []));
    return { ...Object.fromEntries(draft), place, kind };
  };
  const named = {
    ...(Object.assign({}, ...words.map((kind) => kinds[kind]!.named)) as Record<string, JsonSchema>),
    [name]: { description: about, oneOf: words.map((kind) => kinds[kind]!.schema) },
  };
  return { read, absent: undefined, unread: undefined, schema: refTo(name), named, kinds } as ChoiceShape<K>;
}

/** The fields of all kinds. Only what each of them requires is required. */
function fieldsOfAny(kinds: readonly Fields[]): Fields {
  const any: Record<string, Field> = {};
  for (const [key, field] of kinds.flatMap((fields) => Object.entries(fields))) {
    const everywhere = kinds.every((fields) => fields[key]?.required !== undefined);
    any[key] ??= everywhere ? field : { shape: field.shape, means: field.means };
  }
  return any;
}

function inQuotes(key: string): string {
  return `"${key}"`;
}
