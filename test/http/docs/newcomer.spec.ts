import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startTestMediator, type TestMediator } from '../../support/mediator.js';
import { type DocumentedOperation, OPERATIONS } from '../../support/openapi.js';

/**
 * Somebody opens /docs of a server that has nothing yet, and executes what stands there, as it stands there. Only the
 * nonce of the lease cannot stand there: it is taken from the answer to the claim.
 */
const ANSWERED = {
  advertiseNode: 200,
  listNodes: 200,
  listCapabilities: 200,
  submitRun: 201,
  listRuns: 200,
  dryRun: 200,
  getRun: 200,
  getQueue: 200,
  claimStep: 200,
  appendLog: 204,
  readLog: 200,
  uploadOutput: 204,
  reportResult: 200,
  listAsks: 200,
  answerAsk: 200,
  downloadBlob: 200,
  cancelRun: 200,
  downloadRecord: 200,
  getServerInfo: 200,
  explainProblem: 200,
  livez: 200,
  readyz: 200,
  metrics: 200,
};

describe('the examples of the document, one after the other', () => {
  let server: TestMediator;
  beforeAll(async () => {
    server = await startTestMediator();
  });
  afterAll(() => server.close());

  /** As Swagger UI fills a request in: examples that stand beside a parameter, and defaults. */
  async function execute({ path, method, operation }: DocumentedOperation, nonce: string): Promise<Response> {
    const url = new URL(server.url);
    url.pathname = path;
    const headers: Record<string, string> = {};
    for (const { name, in: place, required, example, schema } of operation.parameters) {
      const value = name === 'Mediator-Lease' ? nonce : (example ?? schema.example ?? schema.default);
      expect({ name, missing: required === true && value === undefined }).toEqual({ name, missing: false });
      if (value === undefined) continue;
      if (place === 'path') url.pathname = url.pathname.replace(`%7B${name}%7D`, String(value));
      if (place === 'query') url.searchParams.set(name, String(value));
      if (place === 'header') headers[name] = String(value);
    }
    const [type, media] = Object.entries<any>(operation.requestBody?.content ?? {})[0] ?? [];
    const body = media && Object.values<any>(media.examples)[0].value;
    if (type !== undefined) headers['content-type'] = type;
    return fetch(url, {
      method: method.toUpperCase(),
      headers,
      ...(media && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
  }

  it('do what the document promises, each of them', async () => {
    const answered: Record<string, number> = {};
    const bodies: Record<string, any> = {};
    for (const one of OPERATIONS) {
      const { operationId } = one.operation;
      const answer = await execute(one, bodies.claimStep?.lease.nonce);
      const text = await answer.text();
      answered[operationId] = answer.status;
      if (answer.headers.get('content-type')?.includes('json')) bodies[operationId] = JSON.parse(text);
    }
    expect(answered).toEqual(ANSWERED);
    expect(bodies.submitRun).toMatchObject({ state: 'RUNNING', assigned: [{ as: 'builder' }, { as: 'board' }] });
    expect(bodies.reportResult).toMatchObject({ step_state: 'DONE', run_state: 'RUNNING' });
    expect(bodies.listAsks.items).toMatchObject([{ id: 'approve', can_answer: true }]);
    expect(bodies.cancelRun).toMatchObject({ state: 'CANCELLED', record: { state: 'SEALED' } });
    expect(await server.violations()).toEqual([]);
  });

  it('answer a submission of the same contract with the run it made, not with a refusal', async () => {
    const submitRun = OPERATIONS.find(({ operation }) => operation.operationId === 'submitRun')!;
    expect((await execute(submitRun, '')).status).toBe(200);
  });
});
