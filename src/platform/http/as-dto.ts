import type { Type } from '@nestjs/common';
import { getMetadataStorage, ArrayMaxSize, IsArray, ValidateNested } from 'class-validator';

const fields = new Map<Type<object>, readonly string[]>();

/** The fields of a class that have a rule. */
export function fieldsOf(model: Type<object>): readonly string[] {
  let known = fields.get(model);
  if (known === undefined) {
    const rules = getMetadataStorage().getTargetValidationMetadatas(model, '', true, false);
    fields.set(model, (known = [...new Set(rules.map(({ propertyName }) => propertyName))]));
  }
  return known;
}

/**
 * A body as an object of its class, whose rules can then be asked. Only the fields of the class are taken out of it, whatever
 * else was sent and however much: a node may be newer than the server. Of a list that is too long no more is taken than it
 * takes to tell. A field that is null counts as absent, and not so one in a map of the caller's own keys.
 */
export function asDto(model: Type<object>, body: object): object {
  const dto = new model() as Record<string, unknown>;
  const given = body as Record<string, unknown>;
  for (const field of fieldsOf(model)) {
    if (Object.hasOwn(given, field) && given[field] !== null) dto[field] = valueOf(model, field, given[field]);
  }
  return dto;
}

function valueOf(model: Type<object>, field: string, value: unknown): unknown {
  const list = listRule(model, field);
  if (list === undefined || !Array.isArray(value)) return value;
  return value.slice(0, list.most + 1).map((one: unknown) => (isObject(one) ? asDto(list.element, one) : one));
}

export function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

interface ListRule {
  element: Type<object>;
  most: number;
}

const KEY = 'mediator:list-of';

/** An array of at most so many objects of a class; how many there are is judged before the first of them is looked at. */
export function ListOf(
  element: Type<object>,
  most: number,
  { says, each }: { says: string; each: string },
): PropertyDecorator {
  const rules = [
    IsArray({ message: says }),
    ArrayMaxSize(most, { message: says }),
    ValidateNested({ each: true, message: each }),
  ];
  return (model, property) => {
    for (const rule of rules) rule(model, property);
    Reflect.defineMetadata(KEY, { element, most }, model, property);
  };
}

/** Undefined for a property that is no such list. */
function listRule(model: Type<object>, property: string): ListRule | undefined {
  return Reflect.getMetadata(KEY, model.prototype as object, property) as ListRule | undefined;
}
