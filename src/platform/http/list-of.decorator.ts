import type { Type } from '@nestjs/common';
import { ArrayMaxSize, IsArray, ValidateNested } from 'class-validator';

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
export function listRule(model: Type<object>, property: string): ListRule | undefined {
  return Reflect.getMetadata(KEY, model.prototype as object, property) as ListRule | undefined;
}
