import { connect, type Socket } from 'node:net';
import { readFile } from 'node:fs/promises';
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { R } from '../support/contracts.js';
import { eventually } from '../support/eventually.js';
import { startTestMediator, type TestMediator } from '../support/mediator.js';

/** A connection, with what has come on it so far. */
interface Connection {
  socket: Socket;
  heard(): string;
  closed: Promise<unknown>;
}

describe('a request that is answered before its body has come', () => {
  let server: TestMediator;
  const open: Socket[] = [];
  beforeAll(async () => {
    server = await startTestMediator({ config: { bodyPauseSeconds: 0.4 } });
    await server.node('n1', [{ role: 'x' }]).advertise();
  });
  afterAll(async () => {
    open.forEach((socket) => socket.destroy());
    await server.close();
  });

  const dial = (head: string, more = ''): Connection => {
    const socket = connect(Number(new URL(server.url).port), '127.0.0.1');
    open.push(socket);
    let heard = '';
    socket.on('data', (bytes) => (heard += String(bytes))).on('error', () => undefined);
    socket.write(`${head} HTTP/1.1\r\nHost: localhost\r\n${more}`);
    return { socket, heard: () => heard, closed: once(socket, 'close') };
  };
  const answered = (connection: Connection, status: number): Promise<unknown> =>
    eventually(`it is answered ${status}`, () => connection.heard().startsWith(`HTTP/1.1 ${status} `));

  it.each([
    ['that nobody serves', 'POST /v1/nothing', 404],
    ['with a method that is not served', 'DELETE /v1/queue', 405],
    ['whose path cannot be decoded', 'POST /%zz', 400],
    ['of another media type', 'POST /v1/runs', 415],
    ['that is too large', 'POST /v1/nodes/n1/claim', 413, 'Content-Type: application/json\r\n', 9_000_000],
    ['whose upload has no lease', 'PUT /v1/runs/none/steps/1/blobs/out', 400],
    ['of a run that is not there', 'PUT /v1/runs/none/steps/1/blobs/out', 404, 'Mediator-Lease: n\r\n'],
    ['that needs no body, and is not refused at all', 'GET /livez', 200],
  ])(
    '%s is closed by the server within 5 s, whatever it goes on sending',
    async (_, head, status, more = '', size = 1e12) => {
      const connection = dial(head, `${more || 'Content-Type: text/plain\r\n'}Content-Length: ${size}\r\n\r\n`);
      await answered(connection, status as number);
      expect(connection.heard().toLowerCase()).toContain('connection: close');
      const since = performance.now();
      const sending = setInterval(() => connection.socket.write(Buffer.alloc(1000)), 50);
      await connection.closed;
      clearInterval(sending);
      expect(performance.now() - since).toBeLessThan(5500);
    },
  );

  it('is closed at once where its rest comes, and the caller has its answer', async () => {
    const size = 300_000;
    const connection = dial('POST /v1/nothing', `Content-Type: text/plain\r\nContent-Length: ${size}\r\n\r\n`);
    await answered(connection, 404);
    const since = performance.now();
    connection.socket.write(Buffer.alloc(size));
    await connection.closed;
    expect(performance.now() - since).toBeLessThan(2000);
    expect(connection.heard()).toContain('route_not_found');
  });

  it('keeps its connection where the body is small and comes', async () => {
    const connection = dial('POST /v1/nothing', 'Content-Type: text/plain\r\nContent-Length: 4\r\n\r\n');
    await answered(connection, 404);
    connection.socket.write('body');
    connection.socket.write('GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n');
    await eventually('the next one is answered', () => connection.heard().includes('HTTP/1.1 200 '));
  });

  it('loses its connection where the body is small and does not come', async () => {
    const connection = dial('POST /v1/nothing', 'Content-Type: text/plain\r\nContent-Length: 4\r\n\r\nbo');
    await answered(connection, 404);
    const since = performance.now();
    await connection.closed;
    expect(performance.now() - since).toBeLessThan(5500);
  });

  it('is closed too where it is no HTTP, and its caller neither sends nor closes', async () => {
    const connection = dial('NONSENSE', '\0\r\n');
    await answered(connection, 400);
    await connection.closed;
  });
});

describe('the body of an upload', () => {
  let server: TestMediator;
  let claim: any;
  beforeAll(async () => {
    server = await startTestMediator({ config: { bodyPauseSeconds: 0.4 } });
    const node = server.node('n1', [{ role: 'x' }]);
    await node.advertise();
    await server.send('POST', '/v1/runs', { body: R('x', { run_id: 'pauses' }) });
    claim = (await node.claim()).body;
  });
  afterAll(() => server.close());

  const put = (path: string): Socket => {
    const socket = connect(Number(new URL(server.url).port), '127.0.0.1').on('error', () => undefined);
    const head = `PUT /v1/runs/pauses/steps/1/${path} HTTP/1.1\r\nHost: localhost\r\nMediator-Lease: ${claim.lease.nonce}`;
    socket.write(`${head}\r\nContent-Length: 1000000\r\n\r\n`);
    return socket;
  };

  it.each(['blobs/out', 'log'])('of %s may pause, and is cut where it pauses for too long', async (path) => {
    const socket = put(path);
    let pieces = 0;
    const sending = setInterval(() => {
      socket.write('a piece\n');
      if ((pieces += 1) === 8) clearInterval(sending);
    }, 100);
    await once(socket.resume(), 'close');
    expect(pieces).toBe(8);
    expect(await server.database.sql('SELECT FROM blobs')).toEqual([]);
    const size = path === 'log' ? [{ size: '64' }] : [];
    await eventually('what came of a log stays', async () => {
      const rows = await server.database.sql('SELECT size FROM logs');
      return JSON.stringify(rows) === JSON.stringify(size);
    });
  });

  it('a peer that says nothing is asked whether it is there', async () => {
    const socket = connect(Number(new URL(server.url).port), '127.0.0.1');
    await once(socket, 'connect');
    const hex = (port: number): string => port.toString(16).toUpperCase().padStart(4, '0');
    const [local, remote] = [hex(Number(new URL(server.url).port)), hex(socket.localPort!)];
    const timer = new RegExp(`^ *\\d+: \\S+:${local} \\S+:${remote} 01 \\S+ (\\d\\d):`, 'm');
    await eventually('its side has a timer of the kind keep-alive', async () => {
      return timer.exec(await readFile('/proc/net/tcp', 'utf8'))?.[1] === '02';
    });
    socket.destroy();
  });
});
