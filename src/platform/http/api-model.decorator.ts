import { applyDecorators, type Type } from '@nestjs/common';
import { ApiExtraModels, ApiProperty, ApiSchema, getSchemaPath } from '@nestjs/swagger';
import type { Shape } from '../../domain/contract/declared/shape.js';

/** Where @nestjs/swagger keeps the names of a class's properties, each with a colon before it. */
const PROPERTIES = 'swagger/apiModelPropertiesArray';

/** What the compiler plugin of @nestjs/swagger adds to a class; without the plugin (in tests) it is not there. */
const COMPILED = '_OPENAPI_METADATA_FACTORY';

interface Compiled {
  [COMPILED]: () => object;
}

/**
 * Gives the schema of a class its name, its description and further keywords, and keeps its properties in the order in
 * which they are written: by itself @nestjs/swagger puts those that have a decorator first. A class without properties
 * is whatever its keywords say: a map, or a choice.
 */
export function ApiModel(name: string, description: string, keywords: Record<string, unknown> = {}): ClassDecorator {
  return (model) => {
    const order = propertiesOf(model);
    if (order.length > 0) Reflect.defineMetadata(PROPERTIES, order, model.prototype as object);
    const shape = order.length > 0 ? {} : { properties: undefined };
    ApiSchema({ name, description, ...shape, ...keywords })(model);
  };
}

/** The properties of a class in the order of the source, those of the class that it extends first. */
function propertiesOf(model: object): string[] {
  if (model === Function.prototype) return [];
  const own = Object.hasOwn(model, COMPILED) ? Object.keys((model as Compiled)[COMPILED]()) : [];
  const decorated = (Reflect.getMetadata(PROPERTIES, (model as { prototype: object }).prototype) as string[]) ?? [];
  const inherited = propertiesOf(Object.getPrototypeOf(model) as object);
  return [...new Set([...inherited, ...own.map((key) => `:${key}`), ...decorated])];
}

/**
 * A schema that is one of those of other classes: which one, says the value of a property that each of them has. A client
 * that is generated from it narrows by that property.
 */
export function ApiChoice(
  name: string,
  description: string,
  property: string,
  classes: Readonly<Record<string, Type<unknown>>>,
): ClassDecorator {
  const mapping = Object.entries(classes).map(([value, one]) => [value, getSchemaPath(one)]);
  const oneOf = [...new Set(Object.values(classes))].map((one) => ({ $ref: getSchemaPath(one) }));
  const discriminator = { propertyName: property, mapping: Object.fromEntries(mapping) as Record<string, string> };
  return applyDecorators(
    ApiExtraModels(...new Set(Object.values(classes))),
    ApiModel(name, description, { type: undefined, oneOf, discriminator }),
  );
}

/** A reference to the schema of that name. */
export function schemaRef(name: string): { $ref: string } {
  return { $ref: `#/components/schemas/${name}` };
}

/** A property that has one value, by which a choice is made. */
export function ApiConst(value: string): PropertyDecorator {
  return ApiShape({ schema: { type: 'string', const: value } });
}

/** What is always null. */
export const NOTHING = { schema: { type: 'null' } };

/** A property that is part of a contract, as the contract declares it. */
export function ApiShape<Value>(
  { schema }: Pick<Shape<Value>, 'schema'>,
  more: { required?: boolean; description?: string } = {},
): PropertyDecorator {
  return ApiProperty({
    ...('$ref' in schema ? { type: 'object', allOf: [schema] } : schema),
    ...more,
  });
}
