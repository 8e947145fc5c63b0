import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { answerText, type ServedText, toServe } from './answer-text.js';
import { createOpenApi } from './create-openapi.js';
import { renderOpenApi } from './render-openapi.js';

const DOCUMENT = '/openapi.json';
const PAGES = ['/docs', '/docs/', '/docs/index.html'];
const VIEWPORT = '<meta name="viewport" content="width=device-width, initial-scale=1">';

/** Serves the document at /openapi.json and Swagger UI at /docs. It is made when it is first asked for, and once. */
export function serveDocs(app: NestFastifyApplication): void {
  let document: ServedText | undefined;
  const http = app.getHttpAdapter();
  http.get(DOCUMENT, (request: FastifyRequest, reply: FastifyReply) => {
    document ??= toServe(renderOpenApi(createOpenApi(app)), 'application/json');
    answerText(request, reply, document);
  });

  // The page of the package has no viewport: a telephone would show it as small as on a desk.
  http.getInstance().addHook('onSend', (request, _reply, payload, done) => {
    const isPage = PAGES.includes(request.routeOptions.url ?? '') && typeof payload === 'string';
    done(null, isPage ? payload.replace('<title>', `${VIEWPORT}\n  <title>`) : payload);
  });
  // It fetches the document, which comes compressed and is kept; otherwise its program would have all of it in it.
  SwaggerModule.setup('docs', app, () => ({}) as OpenAPIObject, {
    raw: false,
    swaggerUrl: DOCUMENT,
    customSiteTitle: 'Mediator API',
    customCss: '.swagger-ui .topbar { display: none } .swagger-ui .info { margin: 30px 0 }',
    swaggerOptions: {
      displayOperationId: true,
      displayRequestDuration: true,
      deepLinking: true,
      filter: true,
      persistAuthorization: true,
      defaultModelsExpandDepth: 0,
    },
  });
}
