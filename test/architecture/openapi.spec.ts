import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import ajvFormats from 'ajv-formats';
import fc from 'fast-check';
import { ATTRIBUTE, CAPABILITY, ID, OUTPUT, ROLE, RUN_ID, VARIABLE } from '../../src/domain/contract/names.js';
import { parseValue } from '../../src/domain/contract/json-of.fixture.js';
import { EVERYTHING, EXAMPLE } from '../../src/domain/contract/valid-contract.fixture.js';
import { PROBLEMS, type ProblemCode } from '../../src/domain/problem-codes.js';
import { expectDeclaredHeaders, undeclaredHeaders } from '../support/documented-headers.js';
import { BODIES, CLOSED_SCHEMAS, nodesOf, OPENAPI, OPERATIONS } from '../support/openapi.js';

const SCHEMAS: Record<string, any> = OPENAPI.components.schemas;
const OPERATION_IDS = OPERATIONS.map(({ operation }) => operation.operationId as string);
/** What a library of TypeScript declares for every file. */
const GLOBAL = /^(?:declare (?:var|function|class|const|namespace)|interface|type) (\w+)/gm;
const IN_ORDER = ['path', 'query', 'header'];
const PROBLEM_JSON = 'application/problem+json';

/** The schemas of the document; `closed`: a property that no schema knows is a fault, so that no example misspells one. */
function compile(closed: boolean): (schema: object) => (value: unknown) => string[] {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  ajvFormats.default(ajv);
  ajv.addSchema({ $id: 'document', components: { schemas: closed ? CLOSED_SCHEMAS : SCHEMAS } });
  return (schema) => {
    const absolute = JSON.parse(JSON.stringify(schema).replaceAll('"#/components/', '"document#/components/'));
    const fits = ajv.compile(absolute);
    return (value) => (fits(value) ? [] : fits.errors!.map((error) => `${error.instancePath} ${error.message}`));
  };
}

describe('the OpenAPI document', () => {
  it('is of version 3.1 and knows no `nullable`', () => {
    expect(OPENAPI.openapi).toMatch(/^3\.1\./);
    const nullable = nodesOf(OPENAPI).filter(({ node }) => 'nullable' in node);
    expect(nullable.map(({ path }) => path)).toEqual([]);
  });

  it('has only references that lead somewhere', () => {
    const dangling = nodesOf(OPENAPI)
      .filter(({ node }) => typeof node.$ref === 'string')
      .filter(({ node }) => {
        const keys = (node.$ref as string).slice(2).split('/');
        return keys.reduce((at, key) => at?.[key], OPENAPI) === undefined;
      });
    expect(dangling.map(({ path }) => path)).toEqual([]);
  });

  it('uses every schema it names', () => {
    const used = new Set(nodesOf(OPENAPI).map(({ node }) => node.$ref));
    expect(Object.keys(SCHEMAS).filter((name) => !used.has(`#/components/schemas/${name}`))).toEqual([]);
  });

  it('gives every object and every enumeration a name', () => {
    const named = /^#\/components\/schemas\/[^/]+$/;
    const anonymous = nodesOf(OPENAPI)
      .filter(({ path, node }) => !named.test(path) && !/\/properties$/.test(path) && !Array.isArray(node))
      .filter(({ node }) => 'properties' in node || 'additionalProperties' in node || Array.isArray(node.enum));
    expect(anonymous.map(({ path }) => path)).toEqual([]);
  });

  it('names no schema or operation as a file of exports is named, or as TypeScript names what is there everywhere', () => {
    const folder = join(dirname(fileURLToPath(import.meta.resolve('typescript'))));
    const libraries = readdirSync(folder).filter((file) => /^lib\..*\.d\.ts$/.test(file));
    const names = libraries.flatMap((file) => [...readFileSync(join(folder, file), 'utf8').matchAll(GLOBAL)]);
    const taken = new Set(['Index', ...names.map(([, name]) => name!)]);
    for (const name of ['Record', 'Error', 'Event', 'Node', 'Request', 'Response']) expect(taken).toContain(name);
    expect(Object.keys(SCHEMAS).filter((name) => taken.has(name))).toEqual([]);
    expect(OPERATION_IDS.filter((id) => id === 'index' || taken.has(id))).toEqual([]);
  });

  it('describes every schema that is an object', () => {
    const silent = Object.entries(SCHEMAS).filter(([, schema]) => schema.type === 'object' && !schema.description);
    expect(silent.map(([name]) => name)).toEqual([]);
  });

  it('says of every time that it is one', () => {
    const times = nodesOf(SCHEMAS).filter(({ path }) => /\/properties\/(\w+_at|since|not_after|deadline)$/.test(path));
    expect(times.length).toBeGreaterThan(0);
    expect(
      times.filter(({ node }) => node.format !== 'date-time' && node.type !== 'null').map(({ path }) => path),
    ).toEqual([]);
  });

  it('takes a contract wherever the parser does', () => {
    const judge = compile(false)({ $ref: '#/components/schemas/Contract' });
    expect([EXAMPLE, EVERYTHING].map(judge)).toEqual([[], []]);
  });

  it.each([
    ['a step id', SCHEMAS.ContractRunStep.properties.id.pattern, ID],
    ['a role', SCHEMAS.Requirement.properties.as.pattern, ROLE],
    ['a capability', SCHEMAS.Requirement.properties.capability.pattern, CAPABILITY],
    ['an advertised capability', SCHEMAS.CapabilityEntry.properties.capability.pattern, CAPABILITY],
    ['an attribute', SCHEMAS.Attributes.propertyNames.pattern, ATTRIBUTE],
    ['an output', SCHEMAS.ContractRunStep.properties.out.items.pattern, OUTPUT],
    ['the output of a question', SCHEMAS.ContractAskStep.properties.out.items.pattern, OUTPUT],
    ['a run id', SCHEMAS.Contract.properties.run_id.pattern, RUN_ID],
    ['a variable', SCHEMAS.ContractRunStep.properties.env.items.pattern, VARIABLE],
  ])('spells %s as the parser does', (_name, pattern: string, rule) => {
    const spelling = new RegExp(pattern, 'u');
    const unit = fc.constantFrom(...'aZ09_-.:@+= \n/é');
    const text = fc.oneof(
      fc.string({ unit, maxLength: 4 }),
      fc.integer({ min: 60, max: 205 }).map((length) => 'a'.repeat(length)),
    );
    fc.assert(fc.property(text, (one) => spelling.test(one) === rule.accepts(one)));
  });
});

describe('every operation', () => {
  it('has an id of its own, in camel case', () => {
    expect(OPERATION_IDS.filter((id) => !/^[a-z][A-Za-z]+$/.test(id))).toEqual([]);
    expect(new Set(OPERATION_IDS).size).toBe(OPERATION_IDS.length);
  });

  it.each(OPERATIONS)('$method $path says what it does and describes all its parts', ({ operation }) => {
    expect(operation).toMatchObject({
      summary: expect.stringMatching(/\w+/),
      description: expect.stringMatching(/\w+/),
      tags: [expect.any(String)],
    });
    const parts = [...operation.parameters, ...Object.values(operation.responses)];
    expect(parts.filter(({ description }) => !description)).toEqual([]);
    expect(operation.parameters.map(({ name }: { name: string }) => name)).toContain('X-Request-Id');
  });

  it.each(OPERATIONS)('$method $path tells its parameters as a request has them', ({ operation }) => {
    const places = operation.parameters.map((parameter: any) => parameter.in);
    expect(places).toEqual([...places].sort((a, b) => IN_ORDER.indexOf(a) - IN_ORDER.indexOf(b)));
  });

  it.each(OPERATIONS)('$method $path fills in what must be given, and no header', ({ operation }) => {
    const shown = operation.parameters.map(({ name, in: place, example, examples, schema }: any) => {
      const beside = example ?? examples ?? schema.example;
      return { name, beside: beside !== undefined, within: schema.examples !== undefined, place };
    });
    const expected = operation.parameters.map(({ name, in: place }: any) => {
      return { name, beside: place === 'path', within: place === 'query', place };
    });
    expect(shown).toEqual(expected);
  });

  it.each(BODIES.filter(({ where }) => /, request$/.test(where)))(
    '$where is of no range of media types: $mediaType',
    (body) => {
      expect(body.mediaType).not.toContain('*');
    },
  );

  it('lists bytes first where a body may be of any media type', () => {
    const bodies = OPERATIONS.map(({ operation }) => Object.keys(operation.requestBody?.content ?? {}));
    const raw = bodies
      .filter((types) => !types.includes('application/json') || types.length > 1)
      .flatMap(([first]) => first ?? []);
    expect(raw.length).toBeGreaterThan(0);
    expect(new Set(raw)).toEqual(new Set(['application/octet-stream']));
  });

  it.each(OPERATIONS)('$method $path has an answer and a refusal, and X-Request-Id in each', ({ operation }) => {
    const statuses = Object.keys(operation.responses).map(Number);
    expect(statuses.filter((status) => status < 300)).not.toEqual([]);
    expect(statuses).toEqual(expect.arrayContaining([400, 500]));
    const without = Object.values<any>(operation.responses).filter(({ headers }) => !headers['X-Request-Id']);
    expect(without).toEqual([]);
  });

  it('refuses with problem documents, each code with an example of its own status', () => {
    const refusals = BODIES.filter(({ where, mediaType }) => /[45]\d\d$/.test(where) && mediaType === PROBLEM_JSON);
    for (const { where, examples } of refusals) {
      const codes = Object.keys(examples);
      expect(codes).not.toEqual([]);
      for (const code of codes) {
        const { status } = PROBLEMS[code as ProblemCode];
        expect({ where, value: examples[code]!.value }).toMatchObject({ value: { code, status } });
        expect(where).toMatch(new RegExp(`${status}$`));
      }
    }
    const others = BODIES.filter(({ where, mediaType }) => /[45]\d\d$/.test(where) && mediaType !== PROBLEM_JSON);
    expect(others.map(({ where }) => where)).toEqual(['readyz, 503']);
  });

  it('narrows each refusal to the codes that it can have', () => {
    const refusals = BODIES.filter(({ mediaType }) => mediaType === PROBLEM_JSON);
    const distinct = new Map(refusals.map((refusal) => [JSON.stringify(refusal.schema), refusal]));
    for (const { where, schema, examples } of distinct.values()) {
      const judge = compile(false)(schema);
      const [example] = Object.values(examples);
      const fits = Object.keys(PROBLEMS).filter((code) => judge({ ...example!.value, code }).length === 0);
      expect({ where, fits: fits.sort() }).toEqual({ where, fits: Object.keys(examples).sort() });
    }
  });

  it('names no default: generators of clients would demand what may be left out', () => {
    const defaults = nodesOf(OPENAPI).filter(
      ({ path, node }) => 'default' in node && !/\/(properties|dependentRequired)$/.test(path),
    );
    expect(defaults.map(({ path }) => path)).toEqual([]);
  });

  it.each([
    ['Run', 'state'],
    ['RunSummary', 'state'],
    ['Step', 'kind'],
    ['Claim', 'kind'],
  ])('tells every kind of %s by its %s', (name, property) => {
    const { oneOf, discriminator } = SCHEMAS[name];
    expect(discriminator.propertyName).toBe(property);
    const named = oneOf.map(({ $ref }: { $ref: string }) => $ref).sort();
    expect([...new Set(Object.values(discriminator.mapping))].sort()).toEqual(named);
    for (const [value, $ref] of Object.entries<string>(discriminator.mapping)) {
      const { $ref: enumeration, const: only } = SCHEMAS[$ref.split('/').pop()!].properties[property];
      const values = enumeration === undefined ? [only] : SCHEMAS[enumeration.split('/').pop()].enum;
      expect({ $ref, values }).toEqual({ $ref, values: expect.arrayContaining([value]) });
    }
  });

  it('shows each example of a problem once: what operations refuse alike is a component', () => {
    const written = nodesOf(OPENAPI).filter(({ path, node }) => /\/examples\/\w+$/.test(path) && node.value?.code);
    const texts = written.map(({ node }) => JSON.stringify(node.value));
    expect(texts.length).toBeGreaterThan(0);
    expect(texts.filter((text, at) => texts.indexOf(text) !== at)).toEqual([]);
    const { responses, examples } = OPENAPI.components;
    const used = new Set(nodesOf(OPENAPI).map(({ node }) => node.$ref));
    const named = [
      ...Object.keys(responses).map((name) => `responses/${name}`),
      ...Object.keys(examples).map((name) => `examples/${name}`),
    ];
    expect(named.filter((name) => !used.has(`#/components/${name}`))).toEqual([]);
  });

  it('declares its headers: one that is not declared is seen, and one that is missing', () => {
    const always = { 'x-request-id': 'a', 'cache-control': 'no-store', date: 'now' };
    expect(undeclaredHeaders('getRun', 200, { ...always, etag: '"1"' })).toEqual([]);
    expect(undeclaredHeaders('getRun', 200, { ...always, etag: '"1"', 'x-powered-by': 'b' })).toEqual([
      'getRun 200 with x-powered-by, which is not documented',
    ]);
    expect(undeclaredHeaders('getRun', 200, always)).toEqual(['getRun 200 without ETag']);
    expect(undeclaredHeaders('listRuns', 200, { ...always, link: '</>' })).toEqual([]);
    expect(undeclaredHeaders('appendLog', 409, { ...always, 'upload-offset': '1' })).toEqual([]);
    expect(() =>
      expectDeclaredHeaders('HEAD', '/v1/runs/a', new Response(null, { headers: { ...always, 'x-more': 'b' } })),
    ).toThrow(/HEAD \/v1\/runs\/a: getRun 200 with x-more, .*; getRun 200 without ETag/);
  });

  it('has an example of every body but bytes and pages', () => {
    const bare = BODIES.filter(({ examples }) => Object.keys(examples).length === 0);
    const mediaTypes = [...new Set(bare.map(({ mediaType }) => mediaType))].sort();
    expect(mediaTypes).toEqual(['*/*', 'application/x-tar', 'text/html']);
  });

  it.each(BODIES)('fits its examples to the schema: $where', ({ schema, examples }) => {
    const judge = compile(true)(schema);
    const faults = Object.entries(examples).flatMap(([name, { value }]) =>
      judge(value).map((fault) => `${name}${fault}`),
    );
    expect(faults).toEqual([]);
  });

  it('is seen to be judged', () => {
    const judge = compile(true)({ $ref: '#/components/schemas/EndedRunSummary' });
    expect(judge({ run_id: 1, colour: 'red' })).toEqual(
      expect.arrayContaining([
        '/run_id must be string',
        ' must NOT have additional properties',
        " must have required property 'state'",
      ]),
    );
  });

  it.each(['submitRun', 'dryRun'])('%s shows contracts that this version runs', (operationId) => {
    const { examples } = BODIES.find(({ where }) => where === `${operationId}, request`)!;
    for (const { value } of Object.values(examples)) {
      expect(parseValue(value)).toEqual({ ok: true, contract: value });
    }
  });
});
