import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { createOpenApi } from './create-openapi.js';
import { renderOpenApi } from './render-openapi.js';

/** Serves the document at /openapi.json and Swagger UI at /docs. It is made when it is first asked for, and once. */
export function serveDocs(app: NestFastifyApplication): void {
  let document: OpenAPIObject | undefined;
  let text: string | undefined;
  const made = (): OpenAPIObject => (document ??= createOpenApi(app));

  app.getHttpAdapter().get('/openapi.json', (_request: unknown, reply: FastifyReply) => {
    text ??= renderOpenApi(made());
    void reply.type('application/json').send(text);
  });
  SwaggerModule.setup('docs', app, made, {
    raw: false,
    customSiteTitle: 'Mediator API',
    customCss: '.swagger-ui .topbar { display: none } .swagger-ui .info { margin: 30px 0 }',
    swaggerOptions: { displayOperationId: true, displayRequestDuration: true, deepLinking: true, filter: true },
  });
}
