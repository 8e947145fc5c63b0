import { request } from 'node:http';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { Tokens } from '../../../src/platform/access/tokens.js';
import { R } from '../../support/contracts.js';
import type { Answer, Send } from '../../support/http.js';
import type { TestMediator } from '../../support/mediator.js';
import { OPENAPI, OPERATIONS } from '../../support/openapi.js';
import { PlayedNode } from '../../support/played-node.js';
import { expectProblem } from '../../support/problem.js';
import { serverSuite } from '../../support/server-suite.js';
import { bearer, speakingWith, TokensFile } from '../../support/tokens.js';

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
  getNode: PEOPLE,
  listCapabilities: PEOPLE,
  listGrants: PEOPLE,
  holdNode: ['operator'],
  liftHold: ['operator'],
  forgetNode: ['operator'],
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
  holdNode: { reason: 'the fan is loud' },
  reportResult: { node_id: 'n1', attempt: 1, exit_code: 0 },
};
const PARTS: Record<string, string> = { run_id: 'none', seq: '1', name: 'image', node_id: 'n1', code: 'forbidden' };

const file = new TokensFile();
const tokens: Record<Role, string> = {
  submitter: file.add({ name: 'ann', role: 'submitter' }),
  node: file.add({ name: 'n1', role: 'node', node_id: 'n1' }),
  operator: file.add({ name: 'desk', role: 'operator' }),
};
const server = serverSuite({ tokens: file });

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
    expect([200, 201, 204, 404, 409, 422]).toContain((await call(route, bearer(tokens[role]))).status);
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

/** One call in 100 seconds: what one second brings is less than a call, so one is let through at once, and no other in a test. */
const RARELY = { MEDIATOR_RATE_LIMIT_PER_SECOND: '0.01' };
const EVERYWHERE = ['/', '/livez', '/readyz', '/metrics', '/openapi.json', '/problems/rate_limited'];

function expectLimited(answer: Answer): void {
  expectProblem(answer, 429, 'rate_limited');
  const after = Number(answer.headers.get('retry-after'));
  expect(after).toBeGreaterThan(0);
  expect(after).toBeLessThanOrEqual(100);
}

describe('a limit of requests, with tokens', () => {
  const file = new TokensFile();
  file.add({ name: 'first', role: 'operator' });
  const server = serverSuite({ tokens: file, env: RARELY });

  /** Somebody who has not spoken yet. */
  let people = 0;
  const someone = (role: 'submitter' | 'node' | 'operator'): Send => {
    const token = file.add({ name: `someone-${++people}`, role, ...(role === 'node' && { node_id: 'n1' }) });
    server.mediator.app.get(Tokens).reload();
    return speakingWith(server.send, token);
  };

  it('is each token’s own, and refuses before anything is stored', async () => {
    const [ann, bob] = [someone('submitter'), someone('submitter')];
    expect((await ann('GET', '/v1/runs')).status).toBe(200);
    expectLimited(await ann('POST', '/v1/runs', { body: R('nowhere', { run_id: 'not-stored' }) }));
    expect((await bob('GET', '/v1/runs/not-stored')).status).toBe(404);
    expectLimited(await bob('GET', '/v1/runs'));
  });

  it('counts what is forbidden too, and a call that waits once', async () => {
    const [node, desk] = [someone('node'), someone('operator')];
    expectProblem(await node('GET', '/v1/runs'), 403, 'forbidden');
    expectLimited(await new PlayedNode(node, 'n1', []).advertise());
    expect((await new PlayedNode(desk, 'n1', []).claim(1)).status).toBe(204);
    expectLimited(await desk('GET', '/v1/runs'));
  });

  it('holds for who shows no known token, by their address, and not for those who do', async () => {
    expectProblem(await server.send('GET', '/v1/runs'), 401, 'unauthenticated');
    expectLimited(await server.send('GET', '/v1/runs', { headers: bearer('mdt_wrong') }));
    expect((await someone('submitter')('GET', '/v1/runs')).status).toBe(200);
  });

  it('does not hold for probes and pages', async () => {
    for (const path of [...EVERYWHERE, ...EVERYWHERE]) expect((await server.send('GET', path)).status).toBe(200);
  });
});

describe('a limit of requests, in open mode', () => {
  const limited = serverSuite({ env: RARELY });
  const free = serverSuite({ beside: limited });

  it('is by address, whoever they say they are; without one there is none', async () => {
    const as = (name: string) => ({ headers: { 'mediator-principal': name } });
    expect((await limited.send('GET', '/v1/runs', as('ann'))).status).toBe(200);
    expectLimited(await limited.send('GET', '/v1/runs', as('bob')));
    for (const path of EVERYWHERE) expect((await limited.send('GET', path)).status).toBe(200);
    const many = await Promise.all(Array.from({ length: 100 }, () => free.send('GET', '/v1/runs')));
    expect(many.every(({ status }) => status === 200)).toBe(true);
  });
});

const HELD = /^(default|script|style|img|font|connect)-src /;

const unguarded = serverSuite();
const insecure = serverSuite({ env: { MEDIATOR_INSECURE: 'true' }, beside: unguarded });

/** Sends what fetch would not: a Host and the headers that only a browser sets. Gives the status and the code. */
function speak(
  to: TestMediator,
  method: string,
  path: string,
  headers: Record<string, string>,
): Promise<{ status: number; code?: string }> {
  return new Promise((resolve, reject) => {
    const sent = request(to.url + path, { method, headers: { connection: 'close', ...headers } }, (answer) => {
      let text = '';
      answer.on('data', (chunk) => (text += String(chunk)));
      answer.on('end', () => {
        const problem = answer.headers['content-type']?.startsWith('application/problem+json');
        resolve({ status: answer.statusCode!, ...(problem && { code: JSON.parse(text).code }) });
      });
    });
    sent.on('error', reject);
    if (method === 'POST') sent.setHeader('content-type', 'application/json').write(JSON.stringify(R('nowhere')));
    sent.end();
  });
}

const FORBIDDEN = { status: 403, code: 'forbidden' };
const cross = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'cors', origin: 'https://evil.example' };

describe('in open mode, a page of somebody else', () => {
  it.each([
    ['another site', cross],
    ['another site, by a form', { ...cross, 'sec-fetch-mode': 'navigate' }],
    ['another port of this machine', { 'sec-fetch-site': 'same-site', origin: 'http://127.0.0.1:1' }],
    ['another site, in a browser that says only its origin', { origin: 'https://evil.example' }],
    ['a name that was pointed here', { host: 'evil.example:3000', 'sec-fetch-site': 'same-origin' }],
  ])('on %s gets 403 and stores nothing', async (_where, headers) => {
    expect(await speak(unguarded, 'POST', '/v1/runs', headers)).toEqual(FORBIDDEN);
    expect(await unguarded.database.sql('SELECT run_id FROM runs')).toEqual([]);
  });

  it('reads nothing either, but a link that leads here is followed', async () => {
    expect(await speak(unguarded, 'GET', '/v1/runs', { ...cross, 'sec-fetch-mode': 'no-cors' })).toEqual(FORBIDDEN);
    expect(await speak(unguarded, 'GET', '/v1/runs', { host: 'evil.example' })).toEqual(FORBIDDEN);
    const link = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' };
    expect(await speak(unguarded, 'GET', '/v1/runs', link)).toEqual({ status: 200 });
  });

  it('sees what anybody may see', async () => {
    for (const path of ['/livez', '/metrics', '/problems/forbidden']) {
      expect(await speak(unguarded, 'GET', path, { ...cross, host: 'evil.example' })).toEqual({ status: 200 });
    }
  });

  it('is served where the operator has said so', async () => {
    const headers = { ...cross, host: 'evil.example' };
    expect(await speak(insecure, 'POST', '/v1/runs/dry-run', headers)).toEqual({ status: 422, code: 'unsatisfiable' });
  });
});

describe('in open mode', () => {
  it.each([
    ['a program', {}],
    ['a program that names localhost', { host: 'localhost:80' }],
    ['the page at /docs', { 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'cors' }],
    ['the address bar', { 'sec-fetch-site': 'none', 'sec-fetch-mode': 'navigate' }],
  ])('%s speaks as operator', async (_who, headers) => {
    expect(await speak(unguarded, 'GET', '/v1/runs', headers as Record<string, string>)).toEqual({ status: 200 });
  });

  it('a token is not asked for, and does no harm', async () => {
    expect(await speak(unguarded, 'GET', '/v1/runs', { authorization: 'Bearer whatever' })).toEqual({ status: 200 });
  });
});

describe('the pages under /docs', () => {
  let html: string;
  let policy: Record<string, string[]>;
  beforeAll(async () => {
    const { headers, body } = await unguarded.send<string>('GET', '/docs');
    html = body;
    const directives = headers.get('content-security-policy')!.split(';');
    policy = Object.fromEntries(
      directives.map((directive) => directive.trim().split(' ')).map(([name, ...sources]) => [name!, sources]),
    );
    expect(directives.filter((one) => HELD.test(one.trim())).length).toBe(6);
  });

  it('have no program in them that the policy would keep from running, and no address elsewhere', () => {
    const scripts = [...html.matchAll(/<script([^>]*)>([\s\S]*?)<\/script>/g)];
    expect(scripts.length).toBeGreaterThanOrEqual(3);
    for (const [, attributes, inside] of scripts) {
      expect(inside!.trim()).toBe('');
      expect(/src="(\.?\/)?[^":]*"/.test(attributes!)).toBe(true);
    }
    expect(html).not.toMatch(/\son\w+\s*=|javascript:/i);
    expect(policy['script-src']).toEqual(["'self'"]);
    expect([...html.matchAll(/(?:src|href)="(https?:)?\/\/[^"]*"/g)]).toEqual([]);
  });

  it('are drawn by styles in their elements, which the policy lets through, and get their files', async () => {
    expect(html).toContain('<style>');
    expect(policy['style-src']).toEqual(["'self'", "'unsafe-inline'"]);
    const files = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(
      ([, path]) => new URL(path!, `${unguarded.url}/docs`),
    );
    expect(files.length).toBeGreaterThanOrEqual(4);
    for (const { pathname } of files) expect((await unguarded.send('GET', pathname)).status).toBe(200);
    // A policy that asks for TLS would break them where there is none.
    expect(Object.keys(policy)).not.toContain('upgrade-insecure-requests');
  });

  it('run a program that makes none of itself out of text', async () => {
    const { body } = await unguarded.send<string>('GET', '/docs/swagger-ui-init.js');
    expect(body).not.toMatch(/\beval\(|new Function\(/);
  });

  it('every answer keeps itself out of the pages of others', async () => {
    for (const path of ['/docs', '/v1/runs', '/nothing', '/livez']) {
      const { headers } = await unguarded.send('GET', path);
      const said = ['x-content-type-options', 'x-frame-options', 'cross-origin-resource-policy'].map((n) =>
        headers.get(n),
      );
      expect(said).toEqual(['nosniff', 'DENY', 'same-origin']);
      expect([headers.get('strict-transport-security'), headers.get('x-powered-by')]).toEqual([null, null]);
    }
  });
});

describe('who is slow', () => {
  it('has so long for the headers, and for an upload as long as it takes', () => {
    const { headersTimeout, requestTimeout, timeout } = unguarded.mediator.app.getHttpServer();
    expect({ headersTimeout, requestTimeout, timeout }).toEqual({
      headersTimeout: 20_000,
      requestTimeout: 0,
      timeout: 0,
    });
  });
});
