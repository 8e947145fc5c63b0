import type { OpenAPIObject } from '@nestjs/swagger';
import { operationsOf } from './operations-of.js';

/** Says in the description of every operation that needs a token which roles may call it. */
export function nameRoles(document: OpenAPIObject): void {
  for (const { operation } of operationsOf(document)) {
    const roles = operation['x-roles'];
    const who = roles === undefined ? 'anybody, without a token' : roles.map((role) => `\`${role}\``).join(', ');
    operation.description = `${operation.description ?? ''}\n\n**Who may call it**: ${who}.`;
  }
}
