import { applyDecorators } from '@nestjs/common';
import { ApiProperty } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { IsOptional, ValidateBy } from 'class-validator';

const TIME = /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d{1,9})?([Zz]|[+-]\d\d:\d\d)$/;
/** Four digits of the year, and none is 0: the database takes each of these times, and their order as text is that of the times. */
const IN_REACH = /^(?!0000)\d{4}-/;

/** What RFC 3339 writes as a time, in UTC with milliseconds; whatever is none stays as it is, for the rule to refuse. */
function inUtc(value: unknown): unknown {
  if (typeof value !== 'string' || !TIME.test(value)) return value;
  // Of February 30 JavaScript makes March 2.
  const [year, month, day] = value.slice(0, 10).split('-').map(Number);
  const date = new Date(value.toUpperCase().replace(' ', 'T'));
  const isTime = !Number.isNaN(date.getTime()) && day! <= new Date(Date.UTC(year!, month, 0)).getUTCDate();
  return isTime ? date.toISOString() : value;
}

function isInUtc(value: unknown): value is string {
  if (typeof value !== 'string' || !IN_REACH.test(value)) return false;
  const date = new Date(value);
  return !Number.isNaN(date.getTime()) && date.toISOString() === value;
}

/** A parameter of a query that is a time, and may be left out; the handler gets it in UTC. */
export function Time(): PropertyDecorator {
  return applyDecorators(
    ApiProperty({ type: 'string', format: 'date-time', required: false }),
    IsOptional(),
    Transform(({ value }: { value: unknown }) => inUtc(value)),
    ValidateBy(
      { name: 'time', validator: { validate: isInUtc } },
      { message: 'must be a time as RFC 3339 writes it, such as 2026-03-02T09:15:04.131Z' },
    ),
  );
}

/** A time that must not be before that of another parameter, where that is given as well. */
export function NotBefore(other: string): PropertyDecorator {
  const isNotBefore = (value: unknown, object: object): boolean => {
    const first = (object as Record<string, unknown>)[other];
    return !isInUtc(first) || !isInUtc(value) || first <= value;
  };
  return ValidateBy(
    { name: 'notBefore', validator: { validate: (value, args) => isNotBefore(value, args!.object) } },
    { message: `must not be before "${other}"` },
  );
}
