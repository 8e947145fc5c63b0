import { describe, expect, it } from '@jest/globals';
import { quickest } from '../quickest.fixture.js';
import fc from 'fast-check';
import { indentJson, rawJson, toJson } from './raw-json.js';
import { DEEPEST, type JsonDocument, type JsonLimits, NotJson, readJson } from './read-json.js';

const LIMITS = { bytes: 256 * 1024 };
const read = (text: string, limits: JsonLimits = LIMITS): JsonDocument => readJson(Buffer.from(text), limits);
const pointersOf = (text: string): string[] =>
  read(text)
    .faults.list()
    .map(({ pointer }) => pointer);

describe('JSON that is read', () => {
  it('is what the engine reads, without faults, where every key is given once', () => {
    fc.assert(
      fc.property(fc.jsonValue({ noUnicodeString: false }), (value) => {
        const text = JSON.stringify(value);
        const found = read(text);
        expect(found.value).toEqual(JSON.parse(text));
        expect(found.text).toBe(text);
        // What a double is written as by JSON.stringify need not be the integer that it holds.
        const inexact = /(?<![\d.])\d{16,21}(?![\d.e])|\\u0000|\\ud[89a-f]/i.test(text);
        expect(inexact || found.faults.empty).toBe(true);
      }),
    );
  });

  it.each<[string, string, string[]]>([
    ['a key given twice', '{"run_id":"a","run_id":"b"}', ['/run_id']],
    ['spelt in two ways', '{"a":1,"\\u0061":2}', ['/a']],
    ['deep inside', '{"x":[0,{"y":{"1":1,"2":2,"1":3}}]}', ['/x/1/y/1']],
    ['thrice', '{"a":1,"a":2,"a":3}', ['/a', '/a']],
    ['__proto__ too', '{"__proto__":1,"__proto__":2}', ['/__proto__']],
    ['one of many', `{${Array.from({ length: 20 }, (_, n) => `"k${n}":0`).join()},"k3":1}`, ['/k3']],
    ['in two objects it is no fault', '[{"a":1},{"a":2},{"b":{"a":1},"a":1}]', []],
    ['as a value it is no fault', '{"a":"a","b":["a","a"]}', []],
    ['with a slash', '{"a/b~":1,"a/b~":1}', ['/a~1b~0']],
  ])('a key: %s', (_name, text, pointers) => expect(pointersOf(text)).toEqual(pointers));

  it.each<[string, boolean]>([
    ['9007199254740991', true],
    ['9007199254740992', true],
    ['9007199254740993', false],
    ['-9007199254740993', false],
    ['9007199254740993.0', false],
    ['9007199254740993.5', true],
    ['3544790567247868102', false],
    ['3544790567247868416', true],
    ['1e400', false],
    ['-1e400', false],
    ['1e-400', false],
    ['0e400', true],
    ['0.0000', true],
    [`1${'0'.repeat(400)}`, false],
    [`0.${'0'.repeat(400)}1`, false],
    ['-0', true],
    ['1.0', true],
    ['5.972e24', true],
    ['0.1', true],
    ['3.141592653589793238462643', true],
    ['1.7976931348623157e308', true],
    ['5e-324', true],
  ])('the number %s: %s', (number, held) => {
    expect(pointersOf(`{"n":[${number}]}`)).toEqual(held ? [] : ['/n/0']);
  });

  it.each<[string, string, string[]]>([
    ['NUL in a value', '{"a":["\\u0000"]}', ['/a/0']],
    ['half a pair', '["x","\\ud800"]', ['/1']],
    ['the other half', '["\\udc00x"]', ['/0']],
    ['a pair', '["\\ud83d\\ude00","\\n\\"\\\\"]', []],
    ['NUL in a key, and what stands below', '{"a":{"\\u0000":"\\u0000","b":"\\u0000"}}', ['/a', '/a/b']],
    ['at the top', '"\\u0000"', ['']],
  ])('text: %s', (_name, text, pointers) => expect(pointersOf(text)).toEqual(pointers));

  it('mends the text that is to be mended, and no other', () => {
    const text = '{"error":"a\\u0000b\\ud800","deep":{"error":"\\u0000"}}';
    const { value, faults } = read(text, { ...LIMITS, mended: ['error'] });
    expect(value).toMatchObject({ error: 'a\ufffdb\ufffd' });
    expect(faults.list().map(({ pointer }) => pointer)).toEqual(['/deep/error']);
  });

  it.each(['', ' ', '{', '[1,]', '{"a":1,}', '// c\n1', '[1]x', "{'a':1}", '"\t"', '"a\0"', 'NaN', '01', '[1 2]'])(
    'is not: %j',
    (text) => expect(() => read(text)).toThrow(NotJson),
  );

  it('is in UTF-8', () => {
    expect(() => readJson(Buffer.from([0x22, 0xff, 0x22]), LIMITS)).toThrow(NotJson);
    expect(read('\ufeff1').value).toBe(1);
  });

  it('is as deep as that and no deeper, and what lies deeper is not looked at', () => {
    const nested = (depth: number, inner = ''): string => '['.repeat(depth) + inner + ']'.repeat(depth);
    expect(pointersOf(nested(DEEPEST))).toEqual([]);
    const deep = nested(DEEPEST, '[{"a":1,"a":2},"\\u0000",1e999],[{}],1e999');
    expect(pointersOf(deep)).toEqual([0, 1, 2].map((last) => `${'/0'.repeat(DEEPEST - 1)}/${last}`));
    expect(pointersOf('{"a":'.repeat(DEEPEST + 1) + '1' + '}'.repeat(DEEPEST + 1))).toEqual(['/a'.repeat(DEEPEST)]);
  });

  it('has no more members and elements than it may', () => {
    const limits = { ...LIMITS, values: 10 };
    expect(read('[1,2,{"a":3,"b":[4,"5"]},6]', limits).readable).toBe(true);
    expect(read('[1,2,{"a":3,"b":[4,"5"]},6,7]', limits).readable).toBe(true);
    const { readable, faults } = read('[1,2,{"a":3,"b":[4,"5"]},6,7,8]', limits);
    expect(readable).toBe(false);
    expect(faults.list()).toEqual([{ pointer: '', detail: expect.stringMatching(/at most 10 members/) }]);
  });

  const filled = (unit: (n: number) => string, [open, close] = ['{', '}']): string => {
    let text = open;
    for (let n = 0; text.length < LIMITS.bytes - 60; n++) text += `${n === 0 ? '' : ','}${unit(n)}`;
    return text + close;
  };

  it.each<[string, string]>([
    ['members', filled((n) => `"${n.toString(36)}":0`)],
    ['members that look like numbers', filled((n) => `"${n}":0`)],
    ['one key again and again', filled(() => '"a":1')],
    ['empty objects', filled(() => '{}', ['[', ']'])],
    ['small objects', filled(() => '{"":0}', ['[', ']'])],
    ['digits', filled(() => '0', ['[', ']'])],
    ['long integers', filled(() => '90071992547409925', ['[', ']'])],
    ['the longest integers', filled(() => '9'.repeat(308), ['[', ']'])],
    ['one integer', `[${'9'.repeat(LIMITS.bytes - 2)}]`],
    ['one string of escapes', `"${'\\u0041'.repeat(43_000)}"`],
    ['brackets', '['.repeat(131_072) + ']'.repeat(131_072)],
    [
      'keys below a long key',
      `{"${'k'.repeat(130_000)}":${filled(() => '"":1')
        .slice(0, 130_000)
        .replace(/,[^,]*$/, '}')}}`,
    ],
  ])('256 KiB of %s take no time to speak of', (_name, text) => {
    expect(quickest(() => read(text))).toBeLessThan(250);
  });

  it('is refused as brackets that nobody closes without a word of recursion', () => {
    expect(() => read('['.repeat(LIMITS.bytes))).toThrow(NotJson);
  });
});

describe('JSON that is handed on', () => {
  const TEXT = '{"b": 1.0, "10":1e2,\n"2" : {"__proto__":[]},"a":"\\u0041"}';

  it('stands in other JSON letter by letter', () => {
    const written = toJson({
      first: rawJson(TEXT),
      list: [rawJson('[ ]'), 'x', { y: rawJson('-0') }],
      last: '\\u0000"',
    });
    expect(written).toBe(`{"first":${TEXT},"list":[[ ],"x",{"y":-0}],"last":"\\\\u0000\\""}`);
  });

  it('is its value to who knows nothing of it, and beside a text that is a NUL', () => {
    expect(JSON.stringify({ a: rawJson(TEXT) })).toBe(JSON.stringify({ a: JSON.parse(TEXT) as unknown }));
    expect(toJson(['\0', rawJson('1.0')])).toBe('["\\u0000",1]');
  });

  it('other values are written as ever', () => {
    fc.assert(fc.property(fc.jsonValue(), (value) => expect(toJson(value)).toBe(JSON.stringify(value))));
  });

  it('is indented as the engine would, where the engine keeps it', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = JSON.stringify(value);
        expect(indentJson(text)).toBe(JSON.stringify(JSON.parse(text), null, 2));
      }),
    );
    expect(indentJson(TEXT)).toBe(
      '{\n  "b": 1.0,\n  "10": 1e2,\n  "2": {\n    "__proto__": []\n  },\n  "a": "\\u0041"\n}',
    );
  });
});
