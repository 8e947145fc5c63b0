import { connect } from 'node:net';
import { afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { PROBLEMS } from '../../src/domain/problem-codes.js';
import { R } from '../support/contracts.js';
import type { Answer } from '../support/http.js';
import { expectProblem } from '../support/problem.js';
import { everything } from '../support/stored.js';
import { serverSuite } from '../support/server-suite.js';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const JSON_TYPE = { 'content-type': 'application/json' };
const CONTRACT_ROUTES = ['/v1/runs', '/v1/runs/dry-run'];

describe('what is no request of this API', () => {
  const server = serverSuite();
  let before: Record<string, string[]>;
  beforeAll(async () => {
    await server.node('N1', [{ role: 'x' }]).advertise();
    before = await everything(server.database);
  });
  afterEach(async () => {
    expect(await everything(server.database)).toEqual(before);
  });

  /** Sends a body as it is. */
  async function post(
    path: string,
    body: string | Uint8Array<ArrayBuffer>,
    headers: Record<string, string> = JSON_TYPE,
  ): Promise<Answer> {
    const response = await fetch(server.url + path, { method: 'POST', headers, body });
    return { status: response.status, headers: response.headers, body: await response.json() };
  }

  /** Sends bytes that need not be HTTP, and reads until the server closes the connection. */
  async function speak(text: string): Promise<Answer> {
    const socket = connect(Number(new URL(server.url).port), '127.0.0.1');
    socket.write(Buffer.from(text, 'latin1'));
    let answer = '';
    for await (const chunk of socket) answer += String(chunk);
    const [head = '', body = ''] = answer.split('\r\n\r\n');
    const [status = '', ...lines] = head.split('\r\n');
    const headers = new Headers(lines.map((line) => line.split(': ', 2) as [string, string]));
    return { status: Number(status.split(' ')[1]), headers, body: JSON.parse(body) };
  }

  it.each(CONTRACT_ROUTES)('a contract of exactly 256 KiB is read by %s, one byte more is 413', async (path) => {
    const sized = (bytes: number) => JSON.stringify(R('nowhere', { color: 'x'.repeat(bytes) }));
    const fill = 256 * 1024 - sized(0).length;
    expectProblem(await post(path, sized(fill)), 400, 'invalid_contract', path);
    expectProblem(await post(path, sized(fill + 1)), 413, 'too_large', path);
    // White space counts: it has to be read as well.
    expectProblem(await post(path, JSON.stringify(R('x')) + ' '.repeat(256 * 1024)), 413, 'too_large', path);
  });

  it.each([
    ['/v1/nodes', 64],
    ['/v1/runs/none/steps/1/result', 64],
    ['/v1/runs/none/steps/1/answer', 256],
    ['/v1/runs/none/cancel', 16],
    ['/v1/nodes/N1/claim?wait=0', 16],
  ])('a body for %s of more than %i KiB is 413, in one piece and in many', async (path, most) => {
    const body = (bytes: number): string => `{"x":"${'x'.repeat(bytes - 8)}"}`;
    const { detail } = expectProblem(await post(path, body(most * 1024 + 1)), 413, 'too_large');
    expect(detail).toContain(`${most} KiB`);
    const fits = await fetch(server.url + path, { method: 'POST', headers: JSON_TYPE, body: body(most * 1024) });
    expect(fits.status).not.toBe(413);
    const pieces = new ReadableStream({
      start(stream) {
        for (let sent = 0; sent <= most * 1024; sent += 1024) stream.enqueue(new Uint8Array(1024).fill(32));
        stream.close();
      },
    });
    const request = { method: 'POST', headers: JSON_TYPE, body: pieces, duplex: 'half' } as RequestInit;
    const response = await fetch(server.url + path, request);
    expect([response.status, ((await response.json()) as any).code]).toEqual([413, 'too_large']);
  });

  it('a body that says it is larger is refused before it is sent', async () => {
    const head = 'POST /v1/nodes HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nConnection: close';
    const answer = await speak(`${head}\r\nContent-Length: 65537\r\n\r\n`);
    expectProblem(answer, 413, 'too_large', '/v1/nodes');
  });

  it.each(['text/plain', 'application/x-www-form-urlencoded', 'application/jsonx', 'multipart/form-data', 'garbage'])(
    'a body sent as %s is 415',
    async (type) => {
      for (const path of [...CONTRACT_ROUTES, '/v1/nodes', '/v1/runs/none/cancel']) {
        const body = JSON.stringify(R('x'));
        expectProblem(await post(path, body, { 'content-type': type }), 415, 'unsupported_media_type', path);
      }
    },
  );

  it('a body without a media type is 415, a charset is no fault', async () => {
    const bytes = new TextEncoder().encode(JSON.stringify(R('x')));
    expectProblem(await post('/v1/runs', bytes, {}), 415, 'unsupported_media_type');
    const typed = { 'content-type': 'Application/JSON; charset=UTF-8' };
    expect((await post('/v1/runs/dry-run', bytes, typed)).status).toBe(200);
  });

  it.each([
    ['cut off', '{"requires":[', /must be JSON/],
    ['with a comment', '{} // no', /must be JSON/],
    ['that is white space', ' ', /must be JSON/],
    ['with NaN', '{"requires":NaN}', /must be JSON/],
  ])('a body %s is 400', async (_which, body, says) => {
    for (const path of [...CONTRACT_ROUTES, '/v1/nodes']) {
      expect(expectProblem(await post(path, body), 400, 'invalid_request', path).detail).toMatch(says);
    }
  });

  it('a body that is not UTF-8 is 400, wherever the bytes stand', async () => {
    for (const bytes of [[0xff], [0xc3], [0xed, 0xa0, 0x80], [0xc0, 0x80], [0xf5, 0x80, 0x80, 0x80]]) {
      const body = Buffer.concat([Buffer.from('{"work":{"note":"'), Buffer.from(bytes), Buffer.from('"}}')]);
      const problem = expectProblem(await post('/v1/runs', body), 400, 'invalid_request');
      expect(problem.detail).toMatch(/UTF-8/);
    }
  });

  it('no body at all is 400', async () => {
    expectProblem(await server.send('POST', '/v1/runs'), 400, 'invalid_contract');
    expectProblem(await post('/v1/runs', ''), 400, 'invalid_contract');
    expectProblem(await server.send('POST', '/v1/nodes'), 400, 'invalid_request');
  });

  it.each(['text/plain', 'application/x-www-form-urlencoded', 'application/json', '*/*'])(
    'an empty body is none, though it is said to be %s',
    async (type) => {
      expectProblem(await post('/v1/runs/none/cancel', '', { 'content-type': type }), 404, 'not_found');
      expectProblem(await post('/v1/runs', '', { 'content-type': type }), 400, 'invalid_contract');
    },
  );

  it.each([
    ['NUL', '\0', /without NUL/],
    ['half a surrogate pair', '\ud800', /well-formed/],
    ['the other half', '\udc00 ', /well-formed/],
  ])('%s in a body is 400 and pointed at', async (_which, text, says) => {
    const contract = R('x', { work: { notes: [{ 'a/b': `a${text}b` }] } });
    const { errors } = expectProblem(
      await server.send('POST', '/v1/runs', { body: contract }),
      400,
      'invalid_contract',
    );
    expect(errors).toEqual([{ pointer: '/work/notes/0/a~1b', detail: expect.stringMatching(says) }]);

    const advert = { node_id: 'N2', capabilities: [{ capability: 'board', attrs: { a: 'b' + text } }] };
    const refused = expectProblem(await server.send('POST', '/v1/nodes', { body: advert }), 400, 'invalid_request');
    expect(refused.errors).toEqual([{ pointer: '/capabilities/0/attrs/a', detail: expect.stringMatching(says) }]);
    const keyed = { node_id: 'N2', capabilities: [], [`more${text}`]: 1 };
    expectProblem(await server.send('POST', '/v1/nodes', { body: keyed }), 400, 'invalid_request');
    const body = { reason: text };
    expectProblem(await server.send('POST', '/v1/runs/none/cancel', { body }), 400, 'invalid_request');
  });

  it('a body of the wrong shape is 400', async () => {
    for (const body of ['[]', '"text"', '7', 'true']) {
      const { errors } = expectProblem(await post('/v1/nodes', body), 400, 'invalid_request');
      expect(errors).toEqual([{ pointer: '', detail: 'must be a JSON object' }]);
    }
  });

  it('a refusal is smaller than 64 KiB, whatever was sent', async () => {
    const size = async (path: string, body: string): Promise<number> =>
      Buffer.byteLength(JSON.stringify((await post(path, body)).body));
    const wild = '\\u0001';
    const keys = (key: string, count: number): string =>
      `{${Array.from({ length: count }, (_, n) => `"${key}${n}":"\\ud800"`).join()}}`;
    for (const body of [
      keys('k', 15_000),
      keys(wild.repeat(300), 130),
      `{"${wild.repeat(9_000)}":${keys('', 9_000)}}`,
    ]) {
      for (const path of [...CONTRACT_ROUTES, '/v1/runs/none/steps/1/answer']) {
        expect(await size(path, body)).toBeLessThan(64 * 1024);
      }
    }
    const names = Array.from({ length: 60 }, (_, n) => `"${wild.repeat(150)}${n}":1`).join();
    const entry = `{"capability":"b","attrs":{${names}}}`;
    expect(await size('/v1/nodes', `{"node_id":"N2","capabilities":[${entry}]}`)).toBeLessThan(64 * 1024);
    const query = Array.from({ length: 700 }, (_, n) => `%22%22%22%22${n}=`).join('&');
    const { status, body } = await server.send('GET', `/v1/runs?${query}`);
    expect([status, body.errors.length]).toEqual([400, 100]);
    expect(Buffer.byteLength(JSON.stringify(body))).toBeLessThan(64 * 1024);
    const lost = await server.send('GET', `/v1/${'"%22/'.repeat(2_000)}`);
    expect(lost.status).toBe(404);
    expect(Buffer.byteLength(JSON.stringify(lost.body))).toBeLessThan(64 * 1024);
  });

  it.each(['%00', '%ED%A0%80', '%FF', '%C3', '%'])('%s in a path or a query is 400', async (text) => {
    for (const path of [`/v1/runs/a${text}`, `/v1/runs/a${text}/record`, `/problems/${text}`]) {
      const spelt = path.replace(/%(?![0-9A-F]{2})/, '%25');
      expectProblem(await server.send('GET', path), 400, 'invalid_request', spelt);
    }
    expectProblem(await server.send('POST', `/v1/nodes/N${text}/claim?wait=0`), 400, 'invalid_request');
    expectProblem(await server.send('GET', `/v1/runs?work_id=a${text}`), 400, 'invalid_request', '/v1/runs');
    expectProblem(await server.send('GET', `/v1/runs?work${text}=a`), 400, 'invalid_request', '/v1/runs');
  });

  it('what no URI may hold is spelt as one in `instance`', async () => {
    const text = `GET /v1|/<a>[]^\` HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`;
    expectProblem(await speak(text), 404, 'route_not_found', '/v1%7C/%3Ca%3E%5B%5D%5E%60');
  });

  it('a path that is `*` is answered like any other', async () => {
    const text = 'GET * HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n';
    expectProblem(await speak(text), 404, 'route_not_found', '*');
  });

  it('a path of any length is answered', async () => {
    expectProblem(await server.send('GET', `/v1/runs/${'a'.repeat(1001)}`), 400, 'invalid_request');
    expectProblem(await server.send('GET', `/v1/runs/${'a'.repeat(201)}`), 404, 'not_found');
  });

  it.each([
    ['a method nobody knows', 'BREW /v1/runs HTTP/1.1\r\nHost: localhost\r\n\r\n'],
    ['NUL in a header', 'GET /v1/runs HTTP/1.1\r\nHost: localhost\r\nMediator-Principal: a\0b\r\n\r\n'],
    ['NUL in the path', 'GET /v1/runs/a\0b HTTP/1.1\r\nHost: localhost\r\n\r\n'],
    ['bytes beyond ASCII in the query', 'GET /v1/runs?work_id=\xff HTTP/1.1\r\nHost: localhost\r\n\r\n'],
    ['headers without an end', `GET /v1/runs HTTP/1.1\r\nHost: localhost\r\nX: ${'a'.repeat(40_000)}\r\n\r\n`],
    ['no Host', 'GET /v1/runs HTTP/1.1\r\nConnection: close\r\n\r\n'],
    [
      'a length and chunks',
      'POST /v1/runs HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n',
    ],
  ])('%s is 400', async (_which, text) => {
    expectProblem(await speak(text), 400, 'invalid_request');
  });

  it('an expectation nobody knows is passed over', async () => {
    const text = 'GET /v1/runs/none HTTP/1.1\r\nHost: localhost\r\nExpect: tea\r\nConnection: close\r\n\r\n';
    expectProblem(await speak(text), 404, 'not_found', '/v1/runs/none');
  });

  it.each(['/nothing', '/v1', '/v1/', '/v1/nothing', '/v1/runs/', '//v1/runs', '/V1/runs', '/v1/runs/a/b/c'])(
    'nothing is served at %s: 404',
    async (path) => {
      for (const method of ['GET', 'POST', 'DELETE']) {
        expectProblem(await server.send(method, path), 404, 'route_not_found', path);
      }
    },
  );

  it.each([
    ['PUT', '/v1/runs', 'GET, HEAD, POST'],
    ['OPTIONS', '/v1/runs', 'GET, HEAD, POST'],
    ['DELETE', '/v1/runs/a', 'GET, HEAD'],
    ['PUT', '/v1/runs/dry-run', 'GET, HEAD, POST'],
    ['GET', '/v1/runs/a/cancel', 'POST'],
    ['PATCH', '/v1/queue', 'GET, HEAD'],
    ['GET', '/v1/nodes/N1/claim', 'POST'],
    ['POST', '/problems/not_found', 'GET, HEAD'],
  ])('%s %s is 405 with Allow', async (method, path, allow) => {
    const answer = await server.send(method, path);
    expectProblem(answer, 405, 'method_not_allowed', path);
    expect(answer.headers.get('allow')).toBe(allow);
  });

  it.each([
    ['large', 'application/json', JSON.stringify({ text: 'x'.repeat(20_000) })],
    ['larger than any may be', 'application/json', 'x'.repeat(2_000_000)],
    ['broken', 'application/json', '{'],
    ['of another type', 'text/plain', 'x'],
  ])('whether something is served is said before a body that is %s is read', async (_what, type, body) => {
    expectProblem(await post('/v1/nothing', body, { 'content-type': type }), 404, 'route_not_found');
    expectProblem(await post('/v1/queue', body, { 'content-type': type }), 405, 'method_not_allowed');
  });

  it('X-Request-Id is taken where it is harmless, made where it is not, and answered always', async () => {
    const ask = async (path: string, id?: string) => {
      const { headers } = await server.send('GET', path, { headers: id === undefined ? {} : { 'x-request-id': id } });
      return headers.get('x-request-id');
    };
    const paths = [
      '/',
      '/livez',
      '/readyz',
      '/metrics',
      '/openapi.json',
      '/v1/runs',
      '/v1/runs/none',
      '/nothing',
      '/v1/runs/%FF',
    ];
    for (const path of paths) {
      expect(await ask(path, 'from-outside:1')).toBe('from-outside:1');
      expect(await ask(path)).toMatch(UUID);
    }
    expect(await ask('/v1/runs')).not.toBe(await ask('/v1/runs'));
    for (const bad of ['a b', 'ü', 'x'.repeat(129), '']) expect(await ask('/v1/runs', bad)).toMatch(UUID);
    expect(await ask('/v1/runs', 'x'.repeat(128))).toBe('x'.repeat(128));
  });

  it('every code a problem can have is explained', async () => {
    for (const [code, kind] of Object.entries(PROBLEMS)) {
      const { status, headers, body } = await server.send('GET', `/problems/${code}`);
      expect([status, headers.get('content-type')]).toEqual([200, expect.stringMatching(/^application\/json/)]);
      expect(body).toEqual({ code, ...kind });
    }
    for (const code of ['nope', 'constructor', 'toString']) {
      expectProblem(await server.send('GET', `/problems/${code}`), 404, 'not_found', `/problems/${code}`);
    }
    const { type, title } = expectProblem(await server.send('GET', '/v1/runs/none'), 404, 'not_found');
    expect((await server.send('GET', type)).body.title).toBe(title);
  });
});
