import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { R } from '../../support/contracts.js';
import type { Answer } from '../../support/http.js';
import { startTestMediator, type TestMediator } from '../../support/mediator.js';
import { OPENAPI, OPERATIONS } from '../../support/openapi.js';
import { expectProblem } from '../../support/problem.js';
import { bearer, TokensFile } from '../../support/tokens.js';

const ROLES = ['submitter', 'node', 'operator'] as const;
type Role = (typeof ROLES)[number];

const PEOPLE: Role[] = ['submitter', 'operator'];
const NODES: Role[] = ['node', 'operator'];

/** Who may call each operation, besides those of others, which some refuse. An operation that is not here has no test. */
const TABLE: Record<string, Role[] | 'anybody'> = {
  submitRun: PEOPLE,
  dryRun: PEOPLE,
  listRuns: PEOPLE,
  getRun: PEOPLE,
  cancelRun: PEOPLE,
  downloadRecord: PEOPLE,
  downloadBlob: ['submitter', 'node', 'operator'],
  readLog: PEOPLE,
  getQueue: PEOPLE,
  listNodes: PEOPLE,
  listCapabilities: PEOPLE,
  listAsks: PEOPLE,
  answerAsk: PEOPLE,
  advertiseNode: NODES,
  claimStep: NODES,
  reportResult: NODES,
  uploadOutput: NODES,
  appendLog: NODES,
  getServerInfo: 'anybody',
  explainProblem: 'anybody',
  livez: 'anybody',
  readyz: 'anybody',
  metrics: 'anybody',
};

/** A body that the operation takes, where it takes one. */
const BODIES: Record<string, unknown> = {
  submitRun: R('nowhere'),
  dryRun: R('nowhere'),
  answerAsk: { ok: true },
  advertiseNode: { node_id: 'n1', capabilities: [] },
  reportResult: { node_id: 'n1', attempt: 1, exit_code: 0 },
};
const PARTS: Record<string, string> = { run_id: 'none', seq: '1', name: 'image', node_id: 'n1', code: 'forbidden' };

let file: TokensFile;
let tokens: Record<Role, string>;
let server: TestMediator;
beforeAll(async () => {
  file = new TokensFile();
  tokens = {
    submitter: file.add({ name: 'ann', role: 'submitter' }),
    node: file.add({ name: 'n1', role: 'node', node_id: 'n1' }),
    operator: file.add({ name: 'desk', role: 'operator' }),
  };
  server = await startTestMediator({ env: { MEDIATOR_TOKENS_FILE: file.path } });
});
afterEach(async () => expect(await server.violations()).toEqual([]));
afterAll(async () => {
  await server.close();
  file.remove();
});

function call(
  { path, method, operation }: (typeof OPERATIONS)[number],
  headers: Record<string, string>,
): Promise<Answer> {
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => PARTS[name]!);
  const query = operation.operationId === 'claimStep' ? '?wait=0' : '';
  const body = BODIES[operation.operationId];
  return server.send(method.toUpperCase(), filled + query, { body, headers: { 'mediator-lease': 'none', ...headers } });
}

describe('the table of who may call what', () => {
  it('knows every operation that is served, and no other', () => {
    expect(Object.keys(TABLE).sort()).toEqual(OPERATIONS.map(({ operation }) => operation.operationId).sort());
  });

  it('is what the document says', () => {
    const said = OPERATIONS.map(({ operation }) => [operation.operationId, operation['x-roles'] ?? 'anybody']);
    expect(Object.fromEntries(said)).toEqual(TABLE);
    const [scheme, ...others] = Object.entries<any>(OPENAPI.components.securitySchemes);
    expect([scheme![1].type, scheme![1].scheme, others]).toEqual(['http', 'bearer', []]);
    for (const { operation } of OPERATIONS) {
      const open = TABLE[operation.operationId] === 'anybody';
      expect({ of: operation.operationId, security: operation.security }).toEqual({
        of: operation.operationId,
        security: open ? undefined : [{ [scheme![0]]: [] }],
      });
      const statuses = ['401', '403', '429'].filter((status) => status in operation.responses);
      expect(statuses).toEqual(open ? [] : ['401', '403', '429']);
    }
  });

  const open = OPERATIONS.filter(({ operation }) => TABLE[operation.operationId] === 'anybody');
  const closed = OPERATIONS.filter(({ operation }) => TABLE[operation.operationId] !== 'anybody');

  it.each(open)('$method $path is for anybody, with any token and without', async (route) => {
    for (const headers of [{}, bearer('mdt_wrong'), ...ROLES.map((role) => bearer(tokens[role]))]) {
      expect((await call(route, headers)).status).toBe(200);
    }
  });

  it.each(closed)('$method $path is 401 without a token, and with one that is not known', async (route) => {
    for (const headers of [{}, bearer('mdt_wrong')]) {
      expectProblem(await call(route, headers), 401, 'unauthenticated');
    }
  });

  const cells = closed.flatMap((route) => {
    const may = TABLE[route.operation.operationId]!;
    return ROLES.map((role) => ({ ...route, role, may: may.includes(role) }));
  });

  it.each(cells.filter(({ may }) => may))('$role may: $method $path', async ({ role, ...route }) => {
    expect([200, 201, 204, 404, 422]).toContain((await call(route, bearer(tokens[role]))).status);
  });

  it.each(cells.filter(({ may }) => !may))('$role may not: $method $path', async ({ role, ...route }) => {
    expectProblem(await call(route, bearer(tokens[role])), 403, 'forbidden');
  });

  it.each(closed.filter(({ method }) => method === 'get'))('HEAD $path is kept as GET is', async (route) => {
    const statuses = await Promise.all(
      [{}, ...ROLES.map((role) => bearer(tokens[role]))].map(async (headers) => {
        const head = await call({ ...route, method: 'head' }, headers);
        return [head.status, (await call(route, headers)).status];
      }),
    );
    for (const [head, get] of statuses) expect(head).toBe(get);
  });
});
