import { once } from 'node:events';
import { connect, type AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fastify from 'fastify';
import { limitSlowBodies } from './body-chunks.js';

describe('a body that does not come whole', () => {
  const server = fastify();
  const calls: string[] = [];
  let letGo: () => void = () => undefined;
  const held = new Promise<void>((resolve) => (letGo = resolve));
  beforeAll(async () => {
    limitSlowBodies(server, 0.05);
    server.post('/json', async ({ body }) => body);
    server.post('/waits', async () => {
      calls.push('waits');
      await held;
      return 'done';
    });
    server.route({
      method: 'PUT',
      url: '/raw',
      config: { rawBody: true },
      handler: async ({ raw }) => text(raw),
    });
    server.addContentTypeParser('text/plain', (_request, _payload, done) => done(null));
    await server.listen({ port: 0, host: '127.0.0.1' });
  });
  afterAll(() => server.close());

  const speak = (head: string, body: string) => {
    const socket = connect((server.server.address() as AddressInfo).port, '127.0.0.1');
    socket.write(`${head} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n${body}`);
    return socket;
  };
  const json = (length: number, sent: string) =>
    `Content-Type: application/json\r\nContent-Length: ${length}\r\n\r\n${sent}`;

  it('has its connection cut, without an answer of 2xx', async () => {
    const socket = speak('POST /json', json(10, '{"a"'));
    expect(await text(socket)).not.toContain('HTTP/1.1 2');
  });

  it('is taken where it comes in time', async () => {
    expect(await text(speak('POST /json', json(7, '{"a":1}')))).toMatch(/^HTTP\/1\.1 200 .*\{"a":1\}$/s);
  });

  it('is waited for where it is handed over unread; and a call that waits is left alone', async () => {
    const raw = speak('PUT /raw', 'Content-Type: text/plain\r\nContent-Length: 4\r\n\r\nab');
    const waits = speak('POST /waits', 'Content-Length: 0\r\n\r\n');
    // This one was begun after them, and its time is over: so is theirs.
    await once(speak('POST /json', json(10, '{"a"')).resume(), 'close');
    letGo();
    raw.write('cd');
    expect(await text(raw)).toMatch(/^HTTP\/1\.1 200 .*abcd$/s);
    expect(await text(waits)).toMatch(/^HTTP\/1\.1 200 .*done$/s);
    expect(calls).toEqual(['waits']);
  });
});
