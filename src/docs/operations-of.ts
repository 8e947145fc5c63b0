import type { OpenAPIObject } from '@nestjs/swagger';

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
  schema?: { examples?: unknown[] };
}

export interface Media {
  schema?: object;
  examples?: Record<string, { summary?: string; value?: unknown; $ref?: string }>;
}

/** Every operation of the document with its path. */
export function operationsOf(document: OpenAPIObject): { path: string; operation: Operation }[] {
  return Object.entries(document.paths).flatMap(([path, item]) =>
    Object.values(item as unknown as Record<string, Operation>).map((operation) => ({ path, operation })),
  );
}
