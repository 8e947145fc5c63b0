import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { deliver, PATIENCE } from './deliver.js';

/** As long as it takes on a machine that has other things to do; nothing here waits for it in vain. */
const QUICK = { tries: 3, timeoutMs: 5000, pauseMs: 1 };

describe('the delivery of a notice', () => {
  let server: Server | undefined;
  afterEach(() => {
    server?.closeAllConnections();
    server?.close();
    server = undefined;
  });

  const open = async (by: (request: IncomingMessage, response: ServerResponse) => unknown): Promise<string> => {
    server = createServer((request, response) => void by(request, response)).listen(0, '127.0.0.1');
    await once(server, 'listening');
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook?room=lab`;
  };
  const never = new AbortController().signal;

  it('is a POST of the JSON, signed with the secret; without a secret it is not signed', async () => {
    const seen: { url?: string; method?: string; type?: string; signature: unknown; text: string }[] = [];
    const url = await open(async (request, response) => {
      let text = '';
      for await (const chunk of request.setEncoding('utf8')) text += chunk;
      const { 'content-type': type, 'mediator-signature': signature } = request.headers;
      seen.push({ url: request.url, method: request.method, type, signature, text });
      response.writeHead(204).end();
    });
    const body = JSON.stringify({ prompt: 'blinks — or not?' });
    expect(await deliver({ url, secret: 'schlüssel' }, body, never)).toEqual({ kind: 'sent' });
    expect(await deliver({ url }, body, never)).toEqual({ kind: 'sent' });
    const signature = `sha256=${createHmac('sha256', 'schlüssel').update(body).digest('hex')}`;
    const told = { url: '/hook?room=lab', method: 'POST', type: 'application/json', text: body };
    expect(seen).toEqual([
      { ...told, signature },
      { ...told, signature: undefined },
    ]);
  });

  it.each([500, 404, 302, 304])(
    'a %i is no success: it tries again, as often as it may, and no more',
    async (status) => {
      let calls = 0;
      const paths = new Set<string>();
      const url = await open((request, response) => {
        calls += 1;
        paths.add(request.url!);
        response.writeHead(status, { location: '/elsewhere' }).end();
      });
      expect(await deliver({ url }, '{}', never, QUICK)).toEqual({ kind: 'given-up', last: `it answered ${status}` });
      expect({ calls, paths: [...paths] }).toEqual({ calls: 3, paths: ['/hook?room=lab'] });
    },
  );

  it('a receiver that hangs is left alone after the time for one try', async () => {
    let calls = 0;
    const url = await open(() => (calls += 1));
    const given = await deliver({ url }, '{}', never, { ...QUICK, timeoutMs: 50 });
    expect(given).toEqual({ kind: 'given-up', last: 'no answer within 0.05 s' });
    expect(calls).toBe(3);
  });

  it('a receiver that is not there, and one that breaks off, is tried again too', async () => {
    const url = await open((request) => request.socket.destroy());
    const broken = await deliver({ url }, '{}', never, QUICK);
    expect(broken).toMatchObject({ kind: 'given-up' });
    const closed = once(server!, 'close');
    server!.close();
    await closed;
    expect(await deliver({ url }, '{}', never, QUICK)).toEqual({
      kind: 'given-up',
      last: expect.stringContaining('ECONNREFUSED'),
    });
  });

  it('an answer without end is not read', async () => {
    let ended: Promise<unknown> | undefined;
    const url = await open((_request, response) => {
      ended = once(response, 'close');
      response.on('error', () => undefined).writeHead(200);
      const pour = (): void => {
        while (!response.destroyed && response.write(Buffer.alloc(65_536)));
        if (!response.destroyed) response.once('drain', pour);
      };
      pour();
    });
    expect(await deliver({ url }, '{}', never, QUICK)).toEqual({ kind: 'sent' });
    await ended;
  });

  it.each([
    ['while it is under way', 60_000, (url: string) => url],
    ['in the pause before the next try', 60_000, () => 'http://127.0.0.1:1/'],
  ])('stops at once when the process does, %s', async (_what, pauseMs, where) => {
    const stop = new AbortController();
    let arrived: () => void = () => undefined;
    const reached = new Promise<void>((resolve) => (arrived = resolve));
    const url = where(await open(() => arrived()));
    const delivery = deliver({ url }, '{}', stop.signal, { tries: 3, timeoutMs: 60_000, pauseMs });
    if (!url.endsWith(':1/')) await reached;
    stop.abort();
    expect(await delivery).toEqual({ kind: 'stopped' });
    expect(await deliver({ url }, '{}', stop.signal)).toEqual({ kind: 'stopped' });
  });

  it('has a bounded patience', () => {
    const { tries, timeoutMs, pauseMs } = PATIENCE;
    const pauses = Array.from({ length: tries - 1 }, (_, made) => pauseMs * 4 ** made);
    expect(tries * timeoutMs + pauses.reduce((sum, pause) => sum + pause, 0)).toBeLessThan(60_000);
  });
});
