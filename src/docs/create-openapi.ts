import type { INestApplication } from '@nestjs/common';
import { DocumentBuilder, type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import { VERSION } from './version.js';

/** The OpenAPI document of the application. It is complete only when made from the compiled program. */
export function createOpenApi(app: INestApplication): OpenAPIObject {
  const builder = new DocumentBuilder().setOpenAPIVersion('3.1.0').setTitle('Mediator').setVersion(VERSION);
  return SwaggerModule.createDocument(app, builder.build());
}
