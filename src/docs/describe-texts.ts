import type { OpenAPIObject } from '@nestjs/swagger';
import { operationsOf } from './operations-of.js';

/** Says of bodies that are sent as text/plain that they are text: Swagger UI then asks for lines, and for bytes for a file. */
export function describeTexts(document: OpenAPIObject): void {
  for (const { operation } of operationsOf(document)) {
    const text = operation.requestBody?.content['text/plain'];
    if (text !== undefined) text.schema = { type: 'string' };
  }
}
