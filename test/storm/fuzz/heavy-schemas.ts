/** Contracts whose schemas took seconds to compile before their parts were counted, and the heaviest that are still taken. */
export const HEAVY_SCHEMAS: [string, string][] = [
  ['schemas of nested oneOf', many({ oneOf: [{}, {}] }, (all) => ({ oneOf: all }))],
  ['schemas of oneOf', many({ type: 'null' }, (all) => ({ oneOf: all }))],
  ['schemas of allOf with references', many({ $dynamicRef: '#a' }, (all) => ({ $dynamicAnchor: 'a', allOf: all }))],
  ['schemas of patternProperties', contractWith(7, (n) => ({ patternProperties: named(2_000, n) }))],
  ['schemas of dependentRequired', contractWith(7, (n) => ({ dependentRequired: named(1_500, n, ['a']) }))],
  ['the most schemas', contractWith(250, (n) => ({ oneOf: [{}, {}], maximum: n }))],
  [
    'the heaviest references',
    contractWith(2, (n) => ({ $dynamicAnchor: 'a', maximum: n, allOf: times(370, { $dynamicRef: '#a' }) })),
  ],
  ['the heaviest oneOf', contractWith(1, (n) => ({ maximum: n, oneOf: times(490, { type: 'null' }) }))],
  ['the heaviest patterns', contractWith(1, (n) => ({ maximum: n, patternProperties: named(399, n) }))],
];

function times(count: number, unit: object): object[] {
  return Array.from({ length: count }, () => unit);
}

function named(count: number, n: number, value: unknown = {}): object {
  return Object.fromEntries(Array.from({ length: count }, (_, i) => [`a${n}-${i}`, value]));
}

/** Eight schemas, each as large as one may be. */
function many(unit: object, schema: (all: object[]) => object): string {
  const count = Math.floor(31_000 / (JSON.stringify(unit).length + 1));
  return contractWith(8, (n) => ({ ...schema(times(count, unit)), maximum: n }));
}

function contractWith(count: number, schema: (n: number) => object): string {
  const out = Array.from({ length: count }, (_, n) => `o${n}`);
  const schemas = Object.fromEntries(out.map((name, n) => [name, schema(n)]));
  const step = { id: 's', uses: 'a', run: ['x'], out, schema: schemas };
  return JSON.stringify({ requires: [{ as: 'a', capability: 'build' }], steps: [step] });
}
