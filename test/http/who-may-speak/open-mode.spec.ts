import { request } from 'node:http';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { R } from '../../support/contracts.js';
import { startTestMediator, type TestMediator } from '../../support/mediator.js';

const HELD = /^(default|script|style|img|font|connect)-src /;

let server: TestMediator;
let insecure: TestMediator;
beforeAll(async () => {
  server = await startTestMediator();
  insecure = await startTestMediator({ env: { MEDIATOR_INSECURE: 'true' }, database: server.database });
});
afterEach(async () => expect(await server.violations()).toEqual([]));
afterAll(async () => {
  await insecure.stop();
  await server.close();
});

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
    expect(await speak(server, 'POST', '/v1/runs', headers)).toEqual(FORBIDDEN);
    expect(await server.database.sql('SELECT run_id FROM runs')).toEqual([]);
  });

  it('reads nothing either, but a link that leads here is followed', async () => {
    expect(await speak(server, 'GET', '/v1/runs', { ...cross, 'sec-fetch-mode': 'no-cors' })).toEqual(FORBIDDEN);
    expect(await speak(server, 'GET', '/v1/runs', { host: 'evil.example' })).toEqual(FORBIDDEN);
    const link = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' };
    expect(await speak(server, 'GET', '/v1/runs', link)).toEqual({ status: 200 });
  });

  it('sees what anybody may see', async () => {
    for (const path of ['/livez', '/metrics', '/problems/forbidden']) {
      expect(await speak(server, 'GET', path, { ...cross, host: 'evil.example' })).toEqual({ status: 200 });
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
    expect(await speak(server, 'GET', '/v1/runs', headers as Record<string, string>)).toEqual({ status: 200 });
  });

  it('a token is not asked for, and does no harm', async () => {
    expect(await speak(server, 'GET', '/v1/runs', { authorization: 'Bearer whatever' })).toEqual({ status: 200 });
  });
});

describe('the pages under /docs', () => {
  let html: string;
  let policy: Record<string, string[]>;
  beforeAll(async () => {
    const { headers, body } = await server.send<string>('GET', '/docs');
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
    const files = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, path]) => new URL(path!, `${server.url}/docs`));
    expect(files.length).toBeGreaterThanOrEqual(4);
    for (const { pathname } of files) expect((await server.send('GET', pathname)).status).toBe(200);
    // A policy that asks for TLS would break them where there is none.
    expect(Object.keys(policy)).not.toContain('upgrade-insecure-requests');
  });

  it('run a program that makes none of itself out of text', async () => {
    const { body } = await server.send<string>('GET', '/docs/swagger-ui-init.js');
    expect(body).not.toMatch(/\beval\(|new Function\(/);
  });

  it('every answer keeps itself out of the pages of others', async () => {
    for (const path of ['/docs', '/v1/runs', '/nothing', '/livez']) {
      const { headers } = await server.send('GET', path);
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
    const { headersTimeout, requestTimeout, timeout } = server.mediator.app.getHttpServer();
    expect({ headersTimeout, requestTimeout, timeout }).toEqual({
      headersTimeout: 20_000,
      requestTimeout: 0,
      timeout: 0,
    });
  });
});
