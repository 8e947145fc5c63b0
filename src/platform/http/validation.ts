import { ValidationPipe } from '@nestjs/common';
import type { ValidationError } from 'class-validator';
import type { Fault } from '../../domain/contract/contract.js';
import { pointerTo } from '../../domain/contract/document/pointer.js';
import { Problem } from './problem.js';

/** Bodies and queries against their classes: all faults at once, with pointers; what is not known is ignored. */
export function validation(): ValidationPipe {
  return new ValidationPipe({
    whitelist: true,
    transform: true,
    exceptionFactory: (errors) => {
      const faults = errors.flatMap((error) => faultsOf(error, ''));
      const detail = faults.map((fault) => `${fault.pointer || 'the body'} ${fault.detail}`).join('; ');
      return new Problem('invalid_request', detail || 'the request is not valid', { errors: faults });
    },
  });
}

function faultsOf(error: ValidationError, parent: string): Fault[] {
  // class-validator names the value itself "undefined" where a body is missing.
  const pointer = error.property === undefined ? parent : pointerTo(parent, error.property);
  const own = [...new Set(Object.values(error.constraints ?? {}))].map((detail) => ({ pointer, detail }));
  return [...own, ...(error.children ?? []).flatMap((child) => faultsOf(child, pointer))];
}
