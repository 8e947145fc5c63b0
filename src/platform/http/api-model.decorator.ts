import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import type { Shape } from '../../domain/contract/declared/shape.js';

/** Where @nestjs/swagger keeps the names of a class's properties, each with a colon before it. */
const PROPERTIES = 'swagger/apiModelPropertiesArray';

/** What the compiler plugin of @nestjs/swagger adds to a class; without the plugin (in tests) it is not there. */
interface Compiled {
  _OPENAPI_METADATA_FACTORY?: () => object;
}

/**
 * Gives the schema of a class its name, its description and further keywords, and keeps its properties in the order in
 * which they are written: by itself @nestjs/swagger puts those that have a decorator first. A class without properties
 * is whatever its keywords say: a map, or a choice.
 */
export function ApiModel(name: string, description: string, keywords: Record<string, unknown> = {}): ClassDecorator {
  return (model) => {
    const parent = Object.getPrototypeOf(model.prototype) as object;
    const namesOf = (prototype: object): string[] => (Reflect.getMetadata(PROPERTIES, prototype) as string[]) ?? [];
    const own = Object.keys((model as Compiled)._OPENAPI_METADATA_FACTORY?.() ?? {}).map((key) => `:${key}`);
    const order = [...new Set([...namesOf(parent), ...own, ...namesOf(model.prototype as object)])];
    if (order.length > 0) Reflect.defineMetadata(PROPERTIES, order, model.prototype as object);
    const shape = order.length > 0 ? {} : { properties: undefined };
    ApiSchema({ name, description, ...shape, ...keywords })(model);
  };
}

/** A reference to the schema of that name. */
export function schemaRef(name: string): { $ref: string } {
  return { $ref: `#/components/schemas/${name}` };
}

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
