import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import Negotiator from 'negotiator';
import { namesTag } from '../platform/http/if-match.js';
import { createOpenApi, renderOpenApi } from './create-openapi.js';

/** A text that does not change while the process lives, with what was worked out of it once. */
export interface ServedText {
  type: string;
  identity: { bytes: Buffer; tag: string };
  gzip: { bytes: Buffer; tag: string };
}

/** Makes a text ready to be served. Its two codings are different bytes, and so have different tags. */
function toServe(text: string, type: string): ServedText {
  const bytes = Buffer.from(text);
  const sum = createHash('sha256').update(bytes).digest('hex').slice(0, 32);
  return {
    type,
    identity: { bytes, tag: `"${sum}"` },
    gzip: { bytes: gzipSync(bytes, { level: 9 }), tag: `"${sum}-gzip"` },
  };
}

/** Answers it compressed where that is wanted, or that the caller has it (304). */
function answerText(request: FastifyRequest, reply: FastifyReply, { type, ...codings }: ServedText): void {
  const wanted = new Negotiator(request.raw).encoding(['gzip', 'identity']);
  // Who sends no Accept-Encoding would take any: what it can read is another matter.
  const coding = wanted === 'gzip' && request.headers['accept-encoding'] !== undefined ? 'gzip' : 'identity';
  const { bytes, tag } = codings[coding];
  void reply.headers({ vary: 'Accept-Encoding', etag: tag, 'cache-control': 'no-cache' });
  if (namesTag(request.headers['if-none-match'], tag)) return void reply.status(304).send();
  if (coding === 'gzip') void reply.header('content-encoding', 'gzip');
  void reply.type(type).send(bytes);
}

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
