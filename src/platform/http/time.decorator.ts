import { ValidateBy } from 'class-validator';

const TIME = /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d{1,9})?([Zz]|[+-]\d\d:\d\d)$/;

/** A time as RFC 3339 writes it, that a calendar and the database know. */
function isTime(value: unknown): boolean {
  if (typeof value !== 'string' || !TIME.test(value)) return false;
  const date = new Date(value.toUpperCase().replace(' ', 'T'));
  // Of February 30 JavaScript makes March 2; the database has no year 0.
  const [year, month, day] = value.slice(0, 10).split('-').map(Number);
  const days = new Date(Date.UTC(year!, month, 0)).getUTCDate();
  return !Number.isNaN(date.getTime()) && day! <= days && year! > 0;
}

/** A parameter of a query that is a time. */
export function IsTime(): PropertyDecorator {
  return ValidateBy(
    { name: 'time', validator: { validate: isTime } },
    { message: 'must be a time as RFC 3339 writes it, such as 2026-03-02T09:15:04.131Z' },
  );
}
