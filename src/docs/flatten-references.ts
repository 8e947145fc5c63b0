import type { OpenAPIObject } from '@nestjs/swagger';

interface Referring {
  allOf?: unknown;
  type?: unknown;
  $ref?: string;
  const?: unknown;
  enum?: unknown;
  additionalProperties?: unknown;
}

/**
 * OpenAPI 3.1 lets a description stand beside a `$ref`: the `allOf` of one, which 3.0 needed for that, is taken away. So
 * is what the compiler plugin and `ApiShape` put beside it: the schema that is referred to says it all. Nor does a
 * `const` need an enumeration: of one word, which the plugin makes of its type, or that of the property it narrows.
 */
export function flattenReferences(document: OpenAPIObject): void {
  flatten(document);
}

function flatten(node: unknown): void {
  if (typeof node !== 'object' || node === null) return;
  const schema = node as Referring;
  const [only, ...others] = Array.isArray(schema.allOf) ? (schema.allOf as Referring[]) : [];
  if (only?.$ref !== undefined && others.length === 0) {
    delete schema.allOf;
    delete schema.type;
    delete schema.additionalProperties;
    schema.$ref = only.$ref;
  }
  if (schema.const !== undefined) {
    delete schema.enum;
    delete schema.$ref;
  }
  Object.values(node).forEach(flatten);
}
