import type { OpenAPIObject } from '@nestjs/swagger';
import { EXAMPLES } from './examples/examples.js';

/** Puts the operations in reading order, which is that of their examples; the scan finds them in that of the modules. */
export function orderOperations(document: OpenAPIObject): void {
  const order = Object.keys(EXAMPLES);
  const place = (operation: unknown): number => order.indexOf((operation as { operationId: string }).operationId);
  const items = Object.entries(document.paths).map(([path, item]) => {
    const operations = Object.entries(item).sort(([, a], [, b]) => place(a) - place(b));
    return { path, operations, first: place(operations[0]?.[1]) };
  });
  items.sort((a, b) => a.first - b.first);
  document.paths = Object.fromEntries(items.map(({ path, operations }) => [path, Object.fromEntries(operations)]));
}
