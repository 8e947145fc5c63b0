import { describe, expect, it } from '@jest/globals';
import type { Fault } from '../json/fault-list.js';
import { compileOutputSchema, type SchemaOptions } from './output-schema.js';
import { unitsFor } from './schema/evaluation-meter.js';

const check = (schema: unknown, value: unknown, options?: SchemaOptions): Fault[] => {
  const compiled = compileOutputSchema(schema, options);
  if (!compiled.ok) throw new Error(compiled.fault.detail);
  return compiled.check(value);
};
const refusal = (schema: unknown): Fault | undefined => {
  const compiled = compileOutputSchema(schema);
  return compiled.ok ? undefined : compiled.fault;
};

describe('a value', () => {
  const schema = {
    type: 'object',
    required: ['ok'],
    properties: { ok: { type: 'boolean' } },
    additionalProperties: false,
  };

  it('that satisfies its schema has no faults', () => {
    expect(check(schema, { ok: true })).toEqual([]);
    expect(check(true, 7)).toEqual([]);
  });

  it('that does not has the first of them, or all', () => {
    const wrong = { ok: 'yes', 'a/b': 1 };
    expect(check(schema, wrong)).toHaveLength(1);
    expect(check(schema, wrong, { allErrors: true })).toEqual([
      { pointer: '', detail: 'The value must NOT have additional properties, such as "a/b".' },
      { pointer: '/ok', detail: 'The value must be boolean.' },
    ]);
  });

  it('that is wrong everywhere has a bounded list', () => {
    const faults = check({ items: { type: 'string' } }, new Array(500).fill(1), { allErrors: true });
    expect(faults).toHaveLength(100);
    expect(faults.at(-1)).toEqual({ pointer: '', detail: expect.stringMatching(/more faults than the 99/) });
  });

  it('is judged by plain JSON Schema: unknown keywords and formats are remarks, known formats are judged', () => {
    expect(check({ 'x-order': 1, format: 'colour' }, 'red')).toEqual([]);
    expect(check({ format: 'date-time' }, 'yesterday')).toHaveLength(1);
    expect(
      check({ $id: 'https://example.com/a', $defs: { b: { $anchor: 'b', type: 'number' } }, $ref: '#b' }, 'x'),
    ).toHaveLength(1);
    expect(check({ prefixItems: [{ type: 'number' }], items: false }, [1, 2])).toHaveLength(1);
    expect(check({ properties: { a: true }, unevaluatedProperties: false }, { b: 1 })).toHaveLength(1);
  });

  it('is matched by pattern anywhere, as in JavaScript', () => {
    expect(check({ pattern: 'b\\d' }, 'ab1c')).toEqual([]);
    expect(check({ pattern: '^\\u00e9$' }, 'é')).toEqual([]);
    expect(check({ patternProperties: { '^x-': { type: 'number' } } }, { 'x-a': 'b' })).toHaveLength(1);
  });

  it('is unique by content, not by the order of keys', () => {
    expect(
      check({ uniqueItems: true }, [
        { a: 1, b: 2 },
        { b: 2, a: 1 },
      ]),
    ).toHaveLength(1);
    expect(check({ uniqueItems: true }, [1, '1', [1], null, 'null'])).toEqual([]);
  });
});

describe('a schema that is hostile', () => {
  it('cannot make a pattern backtrack', () => {
    const began = performance.now();
    expect(check({ pattern: '^(a+)+$' }, `${'a'.repeat(50_000)}!`)).toHaveLength(1);
    expect(performance.now() - began).toBeLessThan(2_000);
  });

  it('cannot double its work at each reference', () => {
    const twice = (name: string): unknown => ({ allOf: [{ $ref: `#/$defs/${name}` }, { $ref: `#/$defs/${name}` }] });
    const $defs = Object.fromEntries(
      Array.from({ length: 60 }, (_, n) => [`d${n}`, n === 59 ? {} : twice(`d${n + 1}`)]),
    );
    expect(check({ $defs, $ref: '#/$defs/d0' }, 1, { units: 20_000_000 })).toEqual([
      { pointer: '', detail: expect.stringMatching(/more than can be judged/) },
    ]);
  });

  const zeros = new Array<number>(10_000).fill(0);
  const keyed = Object.fromEntries(Array.from({ length: 1_000 }, (_, n) => [`key ${n}`, n]));
  const times = (count: number, schema: object): object[] => Array.from({ length: count }, () => schema);
  it.each<[string, object, unknown]>([
    ['a pattern of many classes', { pattern: '(?:[a-z]|\\p{L}){200}!' }, 'é'.repeat(10_000)],
    ['lengths', { allOf: times(300, { maxLength: 1e9 }) }, 'a'.repeat(10_000)],
    ['subschemas of each item', { items: { allOf: times(300, { const: 0 }) } }, zeros],
    ['choices for each item', { items: { oneOf: [...times(300, { const: 1 }), {}] } }, zeros],
    ['walks through the items', { allOf: times(300, { items: { const: 0 } }) }, zeros],
    ['walks through the keys', { allOf: times(300, { additionalProperties: { not: { const: '' } } }) }, keyed],
    [
      'patterns of keys',
      { patternProperties: Object.fromEntries(zeros.slice(0, 300).map((_, n) => [`^[b-z]${n}`, {}])) },
      keyed,
    ],
    ['comparisons of items', { allOf: times(300, { uniqueItems: true }) }, zeros.map((_, n) => n)],
  ])('cannot take for ever by %s', (_what, schema, value) => {
    const units = 20_000_000;
    expect(check(schema, value, { units })).toEqual([
      { pointer: '', detail: expect.stringMatching(/more than can be judged/) },
    ]);
  });

  it('cannot fill the memory with faults', () => {
    const value = { all: zeros };
    const schema = { properties: { all: { items: { allOf: times(100, { type: 'string' }) } } } };
    expect(check(schema, value, { allErrors: true })).toEqual([
      { pointer: '/all/0', detail: 'The value must be string.' },
    ]);
    expect(check({ anyOf: [schema, {}] }, value, { allErrors: true })).toEqual([]);
  });

  const doubling = (levels: number): object => {
    const next = (n: number): object => ({ anyOf: [{ $ref: `#/$defs/d${n}` }, { $ref: `#/$defs/d${n}` }] });
    const $defs = Object.fromEntries(Array.from({ length: levels }, (_, n) => [`d${n}`, next(n + 1)]));
    return { $defs: { ...$defs, [`d${levels}`]: { type: 'string' } }, properties: { v: { $ref: '#/$defs/d0' } } };
  };
  it.each([true, false])('ends where each branch fails twice at ten levels, all errors wanted: %s', (allErrors) => {
    const [first, ...more] = check(doubling(10), { v: 1 }, { allErrors });
    expect(first).toEqual({ pointer: '/v', detail: 'The value must be string.' });
    expect(more.length).toBeLessThan(100);
    expect(check(doubling(10), { v: 'x' }, { allErrors })).toEqual([]);
    const units = 5_000_000;
    expect(check(doubling(40), { v: 1 }, { allErrors, units })[0]!.detail).toMatch(/more than can be judged/);
  });

  it.each([true, false])('finds what is sought behind any number of others, all errors wanted: %s', (allErrors) => {
    expect(check({ contains: { type: 'string' } }, [...zeros, 'a'], { allErrors })).toEqual([]);
    expect(check({ contains: { type: 'string' } }, zeros, { allErrors })).not.toEqual([]);
  });

  it('cannot take for ever by comparing what is nested deep', () => {
    let value: unknown = 0;
    for (let level = 0; level < 2_000; level++) value = [value];
    const schema = { uniqueItems: true, items: { $ref: '#' } };
    expect(check(schema, value)[0]!.detail).toMatch(/more than can be judged/);
  });

  it('judges a time by its length first', () => {
    expect(check({ format: 'date-time' }, '2026-03-02T09:15:04.120Z')).toEqual([]);
    expect(check({ format: 'date-time' }, 't'.repeat(5_000_000))).toHaveLength(1);
  });

  it('does not stop an output of 10 MiB that is judged by an ordinary one', () => {
    const tags = { type: 'array', items: { type: 'string', maxLength: 20 }, uniqueItems: true };
    const properties = {
      id: { type: 'integer' },
      url: { type: 'string', format: 'uri' },
      tags,
      name: { pattern: '^[a-z]+ [0-9]+$' },
    };
    const item = { type: 'object', required: ['id', 'name'], properties, additionalProperties: false };
    const value = Array.from({ length: 100_000 }, (_, id) => {
      return { id, name: `name ${id}`, url: `http://example.com/a/longer/path/to/${id}`, tags: ['a', 'b', 'c'] };
    });
    expect(JSON.stringify(value).length).toBeGreaterThan(9_000_000);
    expect(check({ type: 'array', items: item }, value, { units: unitsFor(9_000_000) })).toEqual([]);
  });

  it('cannot overflow the stack', () => {
    expect(check({ $ref: '#' }, 1)).toEqual([{ pointer: '', detail: expect.stringMatching(/too deep/) }]);
    let value: unknown = 1;
    for (let level = 0; level < 100_000; level++) value = [value];
    expect(check({ items: { $ref: '#' } }, value)).toEqual([
      { pointer: '', detail: expect.stringMatching(/too deep/) },
    ]);
    let schema: unknown = {};
    for (let level = 0; level < 100_000; level++) schema = { not: schema };
    expect(refusal(schema)).toEqual({ pointer: '', detail: expect.stringMatching(/too deep/) });
  });

  it('cannot stand in for the meta-schema or for another schema', () => {
    const id = 'https://json-schema.org/draft/2020-12/schema';
    expect(refusal({ $id: id, type: 'string' })).toBeUndefined();
    expect(refusal({ type: 7 })?.pointer).toBe('/type');
    expect(refusal({ $ref: id })?.detail).toMatch(/only within/);
    expect(refusal({ $id: 'https://example.com/a' })).toBeUndefined();
    expect(refusal({ $ref: 'https://example.com/a' })?.detail).toMatch(/only within/);
  });

  it('takes nothing for a property that is only inherited', () => {
    const compiled = compileOutputSchema(
      { type: 'object', required: ['constructor', 'toString'] },
      { allErrors: true },
    );
    if (!compiled.ok) throw new Error('it must compile');
    expect(compiled.check({})).toHaveLength(2);
    expect(compiled.check({ constructor: 1, toString: 2 })).toEqual([]);
  });

  it('cannot grow by its patterns', () => {
    const properties = Object.fromEntries(
      Array.from({ length: 100 }, (_, n) => [`p${n}`, { pattern: `.{1000}.{999}${n}` }]),
    );
    expect(refusal({ properties })?.detail).toMatch(/too large/);
  });

  it.each([
    undefined,
    null,
    7,
    'object',
    [],
    { type: 'text' },
    { $ref: 7 },
    { required: 'ok' },
    { pattern: '[' },
    { id: 'x' },
  ])('is refused in words: %j', (schema) => {
    expect(refusal(schema)).toEqual({ pointer: expect.any(String), detail: expect.stringMatching(/\.$/) });
  });
});
