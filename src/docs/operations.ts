import type { OpenAPIObject } from '@nestjs/swagger';
import { EXAMPLES } from './examples/examples.js';

/** The media type of a refusal (RFC 9457). */
export const PROBLEM_JSON = 'application/problem+json';

/** An operation as far as it is completed here; @nestjs/swagger does not export its own types of these. */
export interface Operation {
  operationId: string;
  description?: string;
  'x-roles'?: string[];
  parameters: Parameter[];
  requestBody?: { content: Record<string, Media> };
  responses: Record<string, Answered>;
}

export interface Answered {
  /** Where it is a component. */
  $ref?: string;
  description?: string;
  content?: Record<string, Media>;
}

export interface Parameter {
  name: string;
  in: string;
  required?: boolean;
  example?: unknown;
  description?: string;
  schema?: { default?: string | number | boolean; examples?: unknown[] };
}

export interface Media {
  schema?: object;
  examples?: Record<string, { summary?: string; value?: unknown; $ref?: string }>;
}

/** Every operation of the document with its path. @nestjs/swagger types them with references in many places, which there are none of here yet. */
export function operationsOf(document: OpenAPIObject): { path: string; operation: Operation }[] {
  return Object.entries(document.paths).flatMap(([path, item]) =>
    Object.values(item as unknown as Record<string, Operation>).map((operation) => ({ path, operation })),
  );
}

/** Every answer of every operation, as it stands there. */
export function answersOf(document: OpenAPIObject): Answered[] {
  return operationsOf(document).flatMap(({ operation }) => Object.values(operation.responses));
}

const PLACES = ['path', 'query', 'header'];

/**
 * Puts the operations in reading order, which is that of their examples; the scan finds them in that of the modules. Their
 * parameters stand in the order of a request: those of the path, of the query, of the headers.
 */
export function orderOperations(document: OpenAPIObject): void {
  const order = Object.keys(EXAMPLES);
  const place = (operation: unknown): number => order.indexOf((operation as { operationId: string }).operationId);
  const items = Object.entries(document.paths).map(([path, item]) => {
    const operations = Object.entries(item).sort(([, a], [, b]) => place(a) - place(b));
    return { path, operations, first: place(operations[0]?.[1]) };
  });
  items.sort((a, b) => a.first - b.first);
  document.paths = Object.fromEntries(items.map(({ path, operations }) => [path, Object.fromEntries(operations)]));
  for (const { operation } of operationsOf(document)) {
    operation.parameters.sort((a, b) => PLACES.indexOf(a.in) - PLACES.indexOf(b.in));
  }
}

/** Says of bodies that are sent as text/plain that they are text: Swagger UI then asks for lines, and for bytes for a file. */
export function describeTexts(document: OpenAPIObject): void {
  for (const { operation } of operationsOf(document)) {
    const text = operation.requestBody?.content['text/plain'];
    if (text !== undefined) text.schema = { type: 'string' };
  }
}

/** Says what an absent parameter counts as in its description: where a schema has a default, generated clients demand a value. */
export function describeDefaults(document: OpenAPIObject): void {
  for (const { operation } of operationsOf(document)) {
    for (const parameter of operation.parameters) {
      const { default: fallback, ...schema } = parameter.schema ?? {};
      if (fallback === undefined) continue;
      parameter.schema = schema;
      parameter.description += ` Absent: \`${fallback}\`.`;
    }
  }
}

/** Says in the description of every operation that needs a token which roles may call it. */
export function nameRoles(document: OpenAPIObject): void {
  for (const { operation } of operationsOf(document)) {
    const roles = operation['x-roles'];
    const who = roles === undefined ? 'anybody, without a token' : roles.map((role) => `\`${role}\``).join(', ');
    operation.description = `${operation.description ?? ''}\n\n**Who may call it**: ${who}.`;
  }
}
