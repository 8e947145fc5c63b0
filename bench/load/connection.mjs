import { connect } from 'node:net';

/** Servers close what has been idle for long; a request must not meet that. */
const IDLE_MS = 20_000;
const END_OF_HEAD = Buffer.from('\r\n\r\n');

/**
 * One HTTP/1.1 connection that is kept, one request at a time: what a client has to do and nothing more, since it takes
 * its processor from what is measured. Understands answers with a Content-Length, or none.
 */
export class Connection {
  #socket;
  #received = Buffer.alloc(0);
  #waiting;
  #usedAt = -Infinity;

  constructor(url) {
    this.url = new URL(url);
  }

  /** Gives `{ status, body, ms }`: the body as parsed JSON, the time from the sending to the whole answer. */
  send(method, path, body, headers = {}) {
    return this.sendPrepared(this.prepare(method, path, body, headers));
  }

  /** What a request is on the wire, to be made before anybody looks at the clock. */
  prepare(method, path, body, headers = {}) {
    const text = body === undefined ? '' : JSON.stringify(body);
    const lines = [`${method} ${path} HTTP/1.1`, `host: ${this.url.host}`];
    for (const [name, value] of Object.entries(headers)) lines.push(`${name}: ${value}`);
    if (body !== undefined) lines.push('content-type: application/json');
    if (method !== 'GET') lines.push(`content-length: ${Buffer.byteLength(text)}`);
    return `${lines.join('\r\n')}\r\n\r\n${text}`;
  }

  sendPrepared(request) {
    if (this.#waiting) throw new Error('one request at a time');
    if (performance.now() - this.#usedAt > IDLE_MS) this.#connect();
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject, began: performance.now() };
      this.#socket.write(request);
    });
  }

  close() {
    this.#socket?.removeAllListeners('close').destroy();
    this.#socket = undefined;
  }

  #connect() {
    this.close();
    this.#received = Buffer.alloc(0);
    const { hostname, port, href } = this.url;
    this.#socket = connect({ host: hostname, port: Number(port), noDelay: true });
    this.#socket.on('data', (chunk) => this.#take(chunk));
    this.#socket.on('error', (error) => this.#fail(error));
    this.#socket.on('close', () => this.#fail(new Error(`${href} closed the connection`)));
  }

  #take(chunk) {
    this.#received = this.#received.length === 0 ? chunk : Buffer.concat([this.#received, chunk]);
    const headEnd = this.#received.indexOf(END_OF_HEAD);
    if (headEnd < 0) return;
    const head = this.#received.toString('latin1', 0, headEnd);
    const bodyAt = headEnd + END_OF_HEAD.length;
    if (/\r\ntransfer-encoding:/i.test(head)) return void this.#fail(new Error(`not understood: ${head}`));
    const length = Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? 0);
    if (this.#received.length < bodyAt + length) return;
    const ended = (this.#usedAt = performance.now());
    const body = length === 0 ? undefined : this.#received.toString('utf8', bodyAt, bodyAt + length);
    this.#received = this.#received.subarray(bodyAt + length);
    const { resolve, began } = this.#waiting;
    this.#waiting = undefined;
    const answer = { status: Number(head.slice(9, 12)), text: body, ms: ended - began };
    resolve(Object.defineProperty(answer, 'body', { get: () => (body === undefined ? undefined : JSON.parse(body)) }));
  }

  #fail(error) {
    this.#usedAt = -Infinity;
    this.#waiting?.reject(error);
    this.#waiting = undefined;
  }
}

/** The answer, where it has this status; else says what came instead. */
export function expectStatus(answer, ...wanted) {
  if (wanted.includes(answer.status)) return answer;
  throw new Error(`${answer.status} instead of ${wanted.join(' or ')}: ${answer.text}`);
}
