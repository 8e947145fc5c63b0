import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { startTestMediator, type TestMediator } from '../support/mediator.js';
import { OPERATIONS } from '../support/openapi.js';
import { expectProblem } from '../support/problem.js';

interface Asked {
  name: string;
  method: string;
  path: string;
  known: string[];
  whole: string[];
}

const ASKED: Asked[] = OPERATIONS.map(({ method, path, operation }) => {
  const queries = (operation.parameters ?? []).filter((parameter: any) => parameter.in === 'query');
  return {
    name: operation.operationId,
    method: method.toUpperCase(),
    path: path.replace(/\{(\w+)\}/g, (_all: string, name: string) => (name === 'seq' ? '1' : 'none')),
    known: queries.map((parameter: any) => parameter.name),
    whole: queries.filter(({ schema }: any) => schema.type === 'integer').map((parameter: any) => parameter.name),
  };
});
const UNDER_V1 = ASKED.filter(({ path }) => path.startsWith('/v1/'));

describe('what is asked of an operation', () => {
  let server: TestMediator;
  beforeAll(async () => {
    server = await startTestMediator();
  });
  afterEach(async () => expect(await server.violations()).toEqual([]));
  afterAll(() => server.close());

  it.each(UNDER_V1)(
    'L10: an unknown parameter of $name is 400, and names the known ones',
    async ({ method, path, known }) => {
      for (const unknown of ['stat', '__proto__', 'constructor']) {
        const answer = await server.send(method, `${path}?${unknown}=x`);
        const { detail, errors } = expectProblem(answer, 400, 'invalid_request', path);
        expect(errors).toEqual([{ pointer: `/${unknown}`, detail: expect.stringMatching(/is not a parameter/) }]);
        for (const name of known.length > 0 ? known : ['takes none']) expect(detail).toContain(name);
      }
    },
  );

  it.each(UNDER_V1.filter(({ known }) => known.length > 0))(
    'L10: $name takes each of its parameters once',
    async ({ method, path, known }) => {
      for (const name of known) {
        const { errors } = expectProblem(
          await server.send(method, `${path}?${name}=1&${name}=1`),
          400,
          'invalid_request',
        );
        expect(errors).toEqual([{ pointer: `/${name}`, detail: 'must be given once' }]);
        const once = await server.send(method, `${path}?${name}=1`);
        expect(String(once.body?.detail)).not.toMatch(/is not a parameter|given once/);
      }
    },
  );

  it.each(UNDER_V1.filter(({ whole }) => whole.length > 0))(
    'a whole number that $name takes is written in digits',
    async ({ method, path, whole }) => {
      for (const name of whole) {
        for (const written of ['', '1e0', '0x1', '%201', '1.0', '%2B1', '-1']) {
          const answer = await server.send(method, `${path}?${name}=${written}`);
          expect(expectProblem(answer, 400, 'invalid_request', path).errors[0].pointer).toBe(`/${name}`);
        }
      }
    },
  );

  it('probes and pages ignore what they do not know', async () => {
    const pages = ASKED.filter(({ path }) => !path.startsWith('/v1/'));
    expect(pages.length).toBeGreaterThan(4);
    for (const { method, path } of pages) {
      const spelt = path.replace('none', 'not_found');
      expect([path, (await server.send(method, `${spelt}?stat=x&stat=y`)).status]).toEqual([path, 200]);
    }
  });

  it('nothing is said of parameters to who may not ask, or asks for what is not served', async () => {
    expectProblem(await server.send('GET', '/v1/nothing?stat=x'), 404, 'route_not_found');
    expectProblem(await server.send('DELETE', '/v1/queue?stat=x'), 405, 'method_not_allowed');
  });
});
