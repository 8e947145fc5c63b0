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

/** Every operation; where its answers, their headers and their examples are components, the components stand here. */
export const OPERATIONS: DocumentedOperation[] = Object.entries<object>(OPENAPI.paths).flatMap(([path, item]) =>
  Object.entries<any>(item).map(([method, operation]) => ({
    path,
    method,
    operation: { ...operation, responses: mapped(operation.responses, resolvedAnswer) },
  })),
);

/** What a reference leads to; anything else is itself. */
function resolved(node: any): any {
  if (node?.$ref === undefined) return node;
  return node.$ref
    .slice(2)
    .split('/')
    .reduce((at: any, key: string) => at[key], OPENAPI);
}

function resolvedAnswer(given: any): any {
  const { headers, content, ...answer } = resolved(given);
  const media = (one: any): any => ({ ...one, ...(one.examples && { examples: mapped(one.examples, resolved) }) });
  return { ...answer, headers: mapped(headers ?? {}, resolved), ...(content && { content: mapped(content, media) }) };
}

function mapped(record: Record<string, any>, map: (value: any) => any): Record<string, any> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, map(value)]));
}

/**
 * The schemas of the document, where a property that no schema knows is a fault: no example may misspell one, and no answer
 * may have one that a reader of the document would not know of.
 */
export const CLOSED_SCHEMAS: Record<string, any> = mapped(OPENAPI.components.schemas, (schema) => {
  if (schema.properties === undefined || schema.additionalProperties !== undefined) return schema;
  // What extends another has that one's properties as well.
  return { ...schema, [schema.allOf === undefined ? 'additionalProperties' : 'unevaluatedProperties']: false };
});

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
