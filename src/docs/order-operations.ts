import type { OpenAPIObject } from '@nestjs/swagger';
import { EXAMPLES } from './examples/examples.js';
import { operationsOf } from './operations-of.js';

const PLACES = ['path', 'query', 'header'];

/**
 * Puts the operations in reading order, which is that of their examples; the scan finds them in that of the modules. Their
 * parameters are told as a request has them: those of the path, of the query, of the headers.
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
