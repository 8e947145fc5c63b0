import { connect, type Socket } from 'node:net';
import { readFile } from 'node:fs/promises';
import { once } from 'node:events';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { R } from '../support/contracts.js';
import { eventually } from '../support/eventually.js';
import { serverSuite } from '../support/server-suite.js';

/** A connection, with what has come on it so far. */
interface Connection {
  socket: Socket;
  heard(): string;
  closed: Promise<unknown>;
}

describe('a request that is answered before its body has come', () => {
  const server = serverSuite({ config: { bodyPauseSeconds: 0.4 } });
  const open: Socket[] = [];
  server.liveNode('n1', { role: 'x' });
  server.atEnd(() => open.forEach((socket) => socket.destroy()));

  // Half open: it goes on sending though the server has closed its side.
  const dial = (head: string, more = '', allowHalfOpen = false): Connection => {
    const socket = connect({ port: Number(new URL(server.url).port), host: '127.0.0.1', allowHalfOpen });
    open.push(socket);
    let heard = '';
    socket.on('data', (bytes) => (heard += String(bytes))).on('error', () => undefined);
    socket.write(`${head} HTTP/1.1\r\nHost: localhost\r\n${more}`);
    return { socket, heard: () => heard, closed: new Promise((resolve) => socket.once('close', resolve)) };
  };
  const answered = (connection: Connection, status: number): Promise<unknown> =>
    eventually(`it is answered ${status}`, () => connection.heard().startsWith(`HTTP/1.1 ${status} `));

  it('is closed by the server within 5 s, whatever it goes on sending and whatever was answered', async () => {
    const [text, json] = ['Content-Type: text/plain\r\n', 'Content-Type: application/json\r\n'];
    const requests: [head: string, status: number, more: string][] = [
      ['POST /v1/nothing', 404, text],
      ['DELETE /v1/queue', 405, text],
      ['POST /%zz', 400, text],
      ['POST /v1/runs', 415, text],
      ['POST /v1/runs', 413, json],
      ['PUT /v1/runs/none/steps/1/blobs/out', 400, text],
      ['PUT /v1/runs/none/steps/1/blobs/out', 404, `${text}Mediator-Lease: n\r\n`],
      // No refusal, but a body all the same.
      ['GET /livez', 200, text],
    ];
    const took = requests.map(async ([head, status, more]) => {
      const connection = dial(head, `${more}Content-Length: 1000000000000\r\n\r\n`, true);
      await answered(connection, status);
      expect(connection.heard().toLowerCase()).toContain('connection: close');
      const since = performance.now();
      await eventually('it is closed', async () => {
        connection.socket.write(Buffer.alloc(1000));
        // Meanwhile others are served.
        expect((await server.send('GET', '/livez')).status).toBe(200);
        return connection.socket.destroyed;
      });
      return performance.now() - since;
    });
    expect(Math.max(...(await Promise.all(took)))).toBeLessThan(5500);
  });

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

  it.each([
    ['by the header', '1.1', 'Connection: close\r\n'],
    ['by speaking HTTP/1.0', '1.0', ''],
  ])('is read to its end where the caller wants the connection closed, %s', async (_, version, more) => {
    const pieces = 20;
    const head = `POST /v1/nothing HTTP/${version}\r\nHost: localhost\r\n${more}Content-Type: text/plain\r\n`;
    const socket = connect({ port: Number(new URL(server.url).port), host: '127.0.0.1', allowHalfOpen: true });
    open.push(socket);
    let heard = '';
    let broken: unknown;
    socket.on('data', (bytes) => (heard += String(bytes))).on('error', (error) => (broken = error));
    socket.write(`${head}Content-Length: ${pieces * 1000}\r\n\r\n`);
    await eventually('it is answered', () => heard.startsWith('HTTP/1.1 404 '));
    for (let sent = 0; sent < pieces; sent++) {
      await new Promise((resolve) => socket.write(Buffer.alloc(1000), resolve));
      expect((await server.send('GET', '/livez')).status).toBe(200);
    }
    await eventually('the server has said all', () => socket.readableEnded || socket.destroyed);
    socket.end();
    expect(broken).toBeUndefined();
    expect(heard).toContain('route_not_found');
  });

  it('keeps its connection where the body is small and comes', async () => {
    const connection = dial('POST /v1/nothing', 'Content-Type: text/plain\r\nContent-Length: 4\r\n\r\n');
    await answered(connection, 404);
    connection.socket.write('body');
    connection.socket.write('GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n');
    await eventually('the next one is answered', () => connection.heard().includes('HTTP/1.1 200 '));
    expect(connection.heard()).toContain('HTTP/1.1 404 ');
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
    expect(connection.heard()).toContain('invalid_request');
  });
});

describe('the body of an upload', () => {
  const server = serverSuite({ config: { bodyPauseSeconds: 0.4 } });
  let claim: any;
  beforeAll(async () => {
    const node = server.node('n1', [{ role: 'x' }]);
    await node.advertise();
    await server.send('POST', '/v1/runs', { body: R('x', { run_id: 'pauses' }) });
    claim = (await node.claim()).body;
  });
  const put = (path: string): Socket => {
    const socket = connect(Number(new URL(server.url).port), '127.0.0.1').on('error', () => undefined);
    const head = `PUT /v1/runs/pauses/steps/1/${path} HTTP/1.1\r\nHost: localhost\r\nMediator-Lease: ${claim.lease.nonce}`;
    socket.write(`${head}\r\nContent-Length: 1000000\r\n\r\n`);
    return socket;
  };

  it.each(['blobs/out', 'log'])('of %s may pause, and is cut where it pauses for too long', async (path) => {
    const socket = put(path);
    const cut = once(socket.resume(), 'close');
    for (let pieces = 0; pieces < 8; pieces++) {
      expect(socket.destroyed).toBe(false);
      socket.write('a piece\n');
      const since = performance.now();
      await eventually('a quarter of what is allowed', () => performance.now() - since > 100);
    }
    await cut;
    await eventually('nothing of an output stays', async () => {
      return (await server.database.sql('SELECT FROM blobs')).length === 0;
    });
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
    const kind = await eventually('the system lists its side', async () => {
      return timer.exec(await readFile('/proc/net/tcp', 'utf8'))?.[1];
    });
    // Keep-alive, as the kernel numbers its timers.
    expect(kind).toBe('02');
    socket.destroy();
  });
});
