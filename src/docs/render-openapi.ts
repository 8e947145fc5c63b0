import type { OpenAPIObject } from '@nestjs/swagger';

/** The document as it is served and committed, byte for byte. */
export function renderOpenApi(document: OpenAPIObject): string {
  return `${JSON.stringify(document, null, 2)}\n`;
}
