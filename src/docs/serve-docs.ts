import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { SwaggerModule } from '@nestjs/swagger';
import { createOpenApi } from './create-openapi.js';

/** Serves the document at /openapi.json and Swagger UI at /docs. */
export function serveDocs(app: NestFastifyApplication): void {
  SwaggerModule.setup('docs', app, () => createOpenApi(app), { jsonDocumentUrl: 'openapi.json', raw: ['json'] });
}
