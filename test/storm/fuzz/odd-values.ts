import type { Dice } from '../../../src/domain/steps/dice.fixture.js';

/** Text that is rarely thought of. Lone surrogates are sent as escapes: no UTF-8 spells them. */
export const ODD_TEXTS: readonly string[] = [
  '',
  ' ',
  '\0',
  'a\0b',
  '\ud800',
  'a\udc00b',
  '\u{1f600}',
  'ü',
  'e\u0301',
  '\u202e‮abc',
  '\ufeff',
  '\u2028',
  '__proto__',
  'constructor',
  'toString',
  'null',
  '0',
  '-1',
  '../..',
  '%00',
  '%2e%2e%2f',
  "'; DROP TABLE runs; --",
  '#{7*7}',
  '{{7*7}}',
  '<script>',
  '*',
  '"',
  '\\',
  '\r\nX-Injected: 1',
  'a'.repeat(65),
  'a'.repeat(101),
  'a'.repeat(201),
  'a'.repeat(20_000),
  'é'.repeat(4_001),
];

/** JSON texts of numbers, some of which no double holds. */
export const ODD_NUMBERS: readonly string[] = [
  '0',
  '-0',
  '-1',
  '1.5',
  '1e0',
  '2147483647',
  '2147483648',
  '-2147483649',
  '9007199254740991',
  '9007199254740993',
  '9223372036854775808',
  '1e21',
  '1e308',
  '1e400',
  '-1e400',
  '1e-400',
  '0.1e1',
  '123456789012345678901234567890',
];

/** Stands for a text of JSON that `JSON.stringify` would never write; see `toText`. */
const MARK = '\u{f8ff}json:';

/** A value whose JSON will be exactly this text: `1e400`, an object with a key twice. */
export function verbatim(text: string): string {
  return `${MARK}${Buffer.from(text).toString('base64')}`;
}

/** As JSON, with the texts that `verbatim` stands for. */
export function toText(value: unknown): string {
  const text = JSON.stringify(value) ?? '';
  return text.replace(/"\u{f8ff}json:([A-Za-z0-9+/=]*)"/gu, (_, base64: string) =>
    Buffer.from(base64, 'base64').toString(),
  );
}

/** Without what no URL and no header of UTF-8 can spell. */
export function spellable(text: string): string {
  return text.replace(/\p{Surrogate}/gu, '\ufffd');
}

function nested(depth: number, kind: 'array' | 'object'): string {
  return kind === 'array' ? '['.repeat(depth) + ']'.repeat(depth) : '{"a":'.repeat(depth) + '1' + '}'.repeat(depth);
}

/** A value of some other kind than what stands there, or one of that kind which is odd. */
export function oddValue(dice: Dice): unknown {
  switch (dice.roll(8)) {
    case 0:
      return null;
    case 1:
      return verbatim(dice.of(ODD_NUMBERS));
    case 2:
      return dice.of(ODD_TEXTS);
    case 3:
      return dice.of([true, false]);
    case 4:
      return dice.of([[], {}, [[]], [null], { '': '' }]);
    case 5:
      return verbatim(nested(dice.of([5, 99, 101, 199, 201, 1_000]), dice.of(['array', 'object'])));
    case 6:
      return Array.from({ length: dice.of([1, 65, 501, 1_001]) }, () => dice.of(['a', 0, null]));
    default:
      return verbatim(dice.of(['{"a":1,"a":2}', '{"__proto__":{"x":1}}', '{"constructor":1,"prototype":2}']));
  }
}
