import { type ArgumentMetadata, ValidationPipe } from '@nestjs/common';
import type { ValidationError } from 'class-validator';
import type { Fault } from '../../domain/contract/contract.js';
import { pointerTo } from '../../domain/contract/document/pointer.js';
import { Problem } from './problem.js';
import { withoutNulls } from './without-nulls.js';

/** Bodies and queries against their classes: all faults at once, with pointers; what is not known is ignored. */
export function validation(): ValidationPipe {
  return new KeepingPipe({
    whitelist: true,
    transform: true,
    exceptionFactory: (errors) => {
      const faults = errors.flatMap((error) => faultsOf(error, ''));
      const detail = faults.map((fault) => `${fault.pointer || 'the body'} ${fault.detail}`).join('; ');
      return new Problem('invalid_request', detail || 'the request is not valid', { errors: faults });
    },
  });
}

/**
 * Nest would take keys named `prototype` out of what was sent, where an attribute of a node may be named so. The two
 * that class-transformer cannot bear, `__proto__` and `constructor`, were refused before.
 */
class KeepingPipe extends ValidationPipe {
  protected override stripProtoKeys(): void {}

  /** A body without a class is judged, and kept as it is, by a parser of its own. */
  override transform(value: unknown, metadata: ArgumentMetadata): Promise<unknown> {
    const hasClass = metadata.type === 'body' && this.toValidate(metadata);
    return super.transform(hasClass ? withoutNulls(value) : value, metadata);
  }
}

function faultsOf(error: ValidationError, parent: string): Fault[] {
  // class-validator names the value itself "undefined" where a body is missing.
  const pointer = error.property === undefined ? parent : pointerTo(parent, error.property);
  const own = [...new Set(Object.values(error.constraints ?? {}))].map((detail) => ({ pointer, detail }));
  return [...own, ...(error.children ?? []).flatMap((child) => faultsOf(child, pointer))];
}
