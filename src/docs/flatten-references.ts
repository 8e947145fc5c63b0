import type { OpenAPIObject } from '@nestjs/swagger';

/** OpenAPI 3.1 lets a description stand beside a `$ref`: the `allOf` of one, which 3.0 needed for that, is taken away. */
export function flattenReferences(document: OpenAPIObject): void {
  flatten(document);
}

function flatten(node: unknown): void {
  if (typeof node !== 'object' || node === null) return;
  const schema = node as { allOf?: unknown; $ref?: string };
  const [only, ...others] = Array.isArray(schema.allOf) ? (schema.allOf as { $ref?: string }[]) : [];
  if (only?.$ref !== undefined && others.length === 0) {
    delete schema.allOf;
    schema.$ref = only.$ref;
  }
  Object.values(node).forEach(flatten);
}
