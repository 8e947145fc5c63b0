import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The committed document, as text. */
export const OPENAPI_TEXT = readFileSync(join(import.meta.dirname, '../../openapi.json'), 'utf8');
export const OPENAPI: any = JSON.parse(OPENAPI_TEXT);

export interface DocumentedOperation {
  path: string;
  method: string;
  operation: any;
}

export const OPERATIONS: DocumentedOperation[] = Object.entries<object>(OPENAPI.paths).flatMap(([path, item]) =>
  Object.entries<any>(item).map(([method, operation]) => ({ path, method, operation })),
);

/** A media type somewhere in the document: its schema and examples, and where it is. */
export interface DocumentedBody {
  where: string;
  mediaType: string;
  schema: any;
  examples: Record<string, { value: any }>;
}

export const BODIES: DocumentedBody[] = OPERATIONS.flatMap(({ operation }) => {
  const { operationId, requestBody, responses } = operation;
  const contents: [string, any][] = [
    [`${operationId}, request`, requestBody?.content],
    ...Object.entries<any>(responses).map(([status, { content }]): [string, any] => [
      `${operationId}, ${status}`,
      content,
    ]),
  ];
  return contents.flatMap(([where, content]) =>
    Object.entries<any>(content ?? {}).map(([mediaType, { schema, examples = {} }]) => ({
      where,
      mediaType,
      schema,
      examples,
    })),
  );
});

/** Every object in the document with the path that leads to it; the values of examples are data and left out. */
export function nodesOf(node: any, path = '#'): { path: string; node: any }[] {
  if (typeof node !== 'object' || node === null || /\/(value|example|default|enum)$/.test(path)) return [];
  return [
    { path, node },
    ...Object.entries(node).flatMap(([key, inner]) => nodesOf(inner, `${path}/${key.replaceAll('/', '~1')}`)),
  ];
}
