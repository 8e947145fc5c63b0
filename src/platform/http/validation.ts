import { type ArgumentMetadata, type Type, ValidationPipe } from '@nestjs/common';
import { Transform } from 'class-transformer';
import { type ValidationError, validateSync } from 'class-validator';
import { type Fault, listable } from '../../domain/json/fault-list.js';
import { pointerTo } from '../../domain/json/json-text.js';
import { asDto, isObject } from './as-dto.js';
import { faulty } from './problem.js';

/** Bodies and queries against their classes: all faults at once, with pointers; what is not known of a body is ignored. */
export function validation(): ValidationPipe {
  return new BodiesAndQueries({ whitelist: true, transform: true, exceptionFactory: (errors) => refusal(errors) });
}

/**
 * Bodies do not go through class-transformer, which takes time in proportion to the square of the number of keys, copies maps
 * without some of them and recurses. Queries do: they are few words by then, and have to become numbers.
 */
class BodiesAndQueries extends ValidationPipe {
  override async transform(value: unknown, metadata: ArgumentMetadata): Promise<unknown> {
    if (metadata.type !== 'body' || !this.toValidate(metadata))
      return super.transform(value, metadata) as Promise<unknown>;
    const body = value ?? {};
    if (!isObject(body)) throw faulty([{ pointer: '', detail: 'must be a JSON object' }], 'the body');
    const dto = asDto(metadata.metatype as Type<object>, body);
    const errors = validateSync(dto, { forbidUnknownValues: false, validationError: { target: false, value: false } });
    if (errors.length > 0) throw refusal(errors);
    return dto;
  }
}

function refusal(errors: readonly ValidationError[]): Error {
  return faulty(listable(errors.flatMap((error) => faultsOf(error, ''))), 'the body');
}

function faultsOf(error: ValidationError, parent: string): Fault[] {
  const pointer = pointerTo(parent, error.property);
  const own = [...new Set(Object.values(error.constraints ?? {}))].map((detail) => ({ pointer, detail }));
  return [...own, ...(error.children ?? []).flatMap((child) => faultsOf(child, pointer))];
}

/**
 * A parameter of a query that is a whole number, written in digits and nothing else: JavaScript makes 0 of an empty text, which
 * as an offset would drop bytes and as a time not wait, and reads `0x10` and `1e1`. Whatever is none is left for the rule to refuse.
 */
export function WholeNumber(): PropertyDecorator {
  return Transform(({ value }: { value: unknown }) => {
    return typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value;
  });
}
