import { describe, expect, it } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { type Fault, FaultList } from '../json/fault-list.js';
import { JsonPlace } from '../json/json-place.js';
import { contracts } from '../steps/contract-arbitrary.fixture.js';
import { BROKEN_CONTRACTS } from './broken-contracts.fixture.js';
import { parseValue, pathsOf, replaced } from './json-of.fixture.js';
import { CONTRACT, CONTRACT_SCHEMAS } from './contract.js';
import { EVERYTHING, EXAMPLE } from './valid-contract.fixture.js';

const fits = new Ajv2020({ strict: false })
  .addSchema({ $id: 'document', components: { schemas: CONTRACT_SCHEMAS } })
  .compile({ $ref: 'document#/components/schemas/Contract' });

/** What is wrong with the parts of a contract, each by itself: what the declaration says without the rules. */
function declaredFaults(value: unknown): Fault[] {
  const faults = new FaultList();
  CONTRACT.read(new JsonPlace(value, '', faults));
  return faults.list();
}

/** The place of every field that is declared, such as `/steps/n/loop/max`. */
function declaredPlaces(schema: any = CONTRACT.schema, at = ''): string[] {
  if (schema.$ref) return declaredPlaces(CONTRACT_SCHEMAS[schema.$ref.split('/').at(-1)], at);
  if (schema.oneOf) return schema.oneOf.flatMap((one: unknown) => declaredPlaces(one, at));
  if (schema.items) return declaredPlaces(schema.items, `${at}/n`);
  return Object.entries(schema.properties ?? {}).flatMap(([key, inner]) => [
    `${at}/${key}`,
    ...declaredPlaces(inner, `${at}/${key}`),
  ]);
}

const placeOf = (keys: string[]): string => keys.map((key) => `/${/^\d+$/.test(key) ? 'n' : key}`).join('');
const PLACES = [...new Set(declaredPlaces())];

describe('a field that is declared', () => {
  it('is known at every place', () => {
    expect(PLACES).toEqual(expect.arrayContaining(['/run_id', '/steps/n/id', '/steps/n/acquire/want/attrs']));
    expect(PLACES.length).toBeGreaterThan(40);
  });

  it('stands in the contract that uses everything', () => {
    const used = new Set(pathsOf(EVERYTHING).map(placeOf));
    expect(PLACES.filter((place) => !used.has(place))).toEqual([]);
  });

  it('has a broken contract, whose fault is there', () => {
    const broken = new Set(BROKEN_CONTRACTS.map(({ pointer }) => placeOf(pointer.split('/').slice(1))));
    const within = [...broken].flatMap((place) =>
      place.split('/').map((_, end, keys) => keys.slice(0, end + 1).join('/')),
    );
    expect(PLACES.filter((place) => !within.includes(place))).toEqual([]);
  });
});

describe('what the API document says of a contract', () => {
  it('is true of every contract that is taken', () => {
    for (const contract of [EXAMPLE, EVERYTHING]) expect([contract, fits(contract)]).toEqual([contract, true]);
    fc.assert(fc.property(contracts(), (contract) => expect(fits(contract) || fits.errors).toBe(true)));
  });

  it.each(BROKEN_CONTRACTS)('is not true where a part is broken: $name', ({ contract }) => {
    const broken = declaredFaults(contract).length > 0;
    expect({ broken, fits: fits(contract) }).not.toEqual({ broken: true, fits: true });
  });

  it('says of some rules, too, that they are broken, and of text what it must not hold', () => {
    const told = BROKEN_CONTRACTS.filter(({ contract }) => declaredFaults(contract).length === 0 && !fits(contract));
    expect(told.map(({ name }) => name)).toEqual([
      'NUL in a name',
      'schema neither object nor boolean',
      'needs a step twice',
      'to with a choice twice',
    ]);
  });

  it('is true where a part is replaced by anything, if and only if that is taken, but for what rules alone can say', () => {
    const paths = pathsOf(EVERYTHING);
    const values = fc.oneof(fc.jsonValue(), fc.constantFrom(...paths.map((path) => valueAt(EVERYTHING, path))));
    fc.assert(
      fc.property(fc.constantFrom(...paths), values, (path, value) => {
        const contract = replaced(EVERYTHING, path, value);
        const agrees = fits(contract) ? declaredFaults(contract).length === 0 : !parseValue(contract).ok;
        expect({ agrees, errors: fits.errors }).toMatchObject({ agrees: true });
      }),
      { numRuns: 700 },
    );
  });
});

function valueAt(document: unknown, path: string[]): unknown {
  return path.reduce((at, key) => (at as Record<string, unknown>)[key], document);
}
