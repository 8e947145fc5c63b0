import { Transform } from 'class-transformer';

/**
 * A parameter of a query that is a whole number, written in digits and nothing else: JavaScript makes 0 of an empty text, which
 * as an offset would drop bytes and as a time not wait, and reads `0x10` and `1e1`. Whatever is none is left for the rule to refuse.
 */
export function WholeNumber(): PropertyDecorator {
  return Transform(({ value }: { value: unknown }) => {
    return typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value;
  });
}
