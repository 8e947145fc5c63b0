import { ApiHeader } from '@nestjs/swagger';
import { PRINCIPAL } from './principal.js';

/** The header Mediator-Principal, by which a caller says who they are. */
export function ApiPrincipal(): MethodDecorator & ClassDecorator {
  return ApiHeader({
    name: 'Mediator-Principal',
    required: false,
    description:
      'Who speaks, where the server has no tokens; it is shown and recorded. Where it has, the name of the token says so, ' +
      'and this is ignored. 1 to 200 printable ASCII characters, no space at either end.',
    schema: { type: 'string', maxLength: 200, pattern: PRINCIPAL.source, default: 'anonymous' },
  });
}
