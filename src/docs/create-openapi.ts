import type { INestApplication } from '@nestjs/common';
import { DocumentBuilder, type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import { CONTRACT_SCHEMAS } from '../domain/contract/contract.js';
import { TOKEN_SCHEME } from '../platform/access/may-call.decorator.js';
import { SHARED_HEADERS } from '../platform/http/shared-headers.js';
import { addExamples } from './add-examples.js';
import { flattenReferences } from './flatten-references.js';
import { INTRODUCTION, TAGS } from './introduction.js';
import { narrowProblems } from './narrow-problems.js';
import { describeDefaults, describeTexts, nameRoles, orderOperations } from './operations.js';
import { shareRefusals } from './share-refusals.js';
import { VERSION } from './version.js';

const BEARER = {
  type: 'http',
  scheme: 'bearer',
  description:
    'A token that this server knows, if it has a tokens file; without one, none is asked for. Its role decides which ' +
    'operations it may call, and its name is the principal.',
} as const;

/** The OpenAPI document of the application. It is complete only when made from the compiled program. */
export function createOpenApi(app: INestApplication): OpenAPIObject {
  const builder = new DocumentBuilder()
    .setOpenAPIVersion('3.1.0')
    .setTitle('Mediator')
    .setDescription(INTRODUCTION)
    .setVersion(VERSION)
    .addServer('/', 'The server that serves this document.')
    .addGlobalParameters({
      name: 'X-Request-Id',
      in: 'header',
      required: false,
      description:
        'Names the request in the log and in problems, such as `ci-build-88123`. 1 to 128 printable ASCII characters without spaces.',
      schema: { type: 'string', maxLength: 128 },
    });
  for (const [name, description] of Object.entries(TAGS)) builder.addTag(name, description);
  const base = {
    ...builder.build(),
    security: [],
    components: { headers: SHARED_HEADERS, securitySchemes: { [TOKEN_SCHEME]: BEARER } },
  };
  const document = SwaggerModule.createDocument(app, base);
  document.components!.schemas = { ...document.components!.schemas, ...CONTRACT_SCHEMAS };
  flattenReferences(document);
  orderOperations(document);
  describeTexts(document);
  describeDefaults(document);
  addExamples(document);
  narrowProblems(document);
  shareRefusals(document);
  nameRoles(document);
  const { openapi, info, servers, tags, security, paths, components } = document;
  return { openapi, info, servers, tags, security, paths, components: sorted(components) };
}

/** The schemas by name: the scan finds them in the order of the modules. */
function sorted(components: OpenAPIObject['components']): OpenAPIObject['components'] {
  const schemas = Object.entries(components?.schemas ?? {}).sort(([a], [b]) => (a < b ? -1 : 1));
  return { ...components, schemas: Object.fromEntries(schemas) };
}

/** The document as it is served and committed, byte for byte. */
export function renderOpenApi(document: OpenAPIObject): string {
  return `${JSON.stringify(document, null, 2)}\n`;
}
