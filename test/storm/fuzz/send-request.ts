import { Agent, type IncomingHttpHeaders, request as httpRequest } from 'node:http';
import type { FuzzRequest } from './fuzz-request.js';

export interface FuzzAnswer {
  status: number;
  headers: IncomingHttpHeaders;
  body: Buffer;
  /** The body, where it is JSON. */
  json: any;
}

/** Sends requests on connections that are kept, many at a time; a path goes out as it is, however odd. */
export class Sender {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 64 });

  constructor(private readonly url: string) {}

  send({ method, path, headers, body, chunked }: FuzzRequest): Promise<FuzzAnswer> {
    const { hostname, port } = new URL(this.url);
    const framing =
      body === undefined
        ? {}
        : chunked
          ? { 'transfer-encoding': 'chunked' }
          : { 'content-length': String(body.length) };
    return new Promise((resolve, reject) => {
      const request = httpRequest({
        agent: this.#agent,
        hostname,
        port,
        method,
        path,
        headers: { ...framing, ...headers },
      });
      request.once('error', reject);
      request.once('response', (response) => {
        const pieces: Buffer[] = [];
        response.on('data', (piece) => pieces.push(piece as Buffer));
        response.once('error', reject);
        response.once('end', () => resolve(read(response.statusCode!, response.headers, Buffer.concat(pieces))));
      });
      if (chunked && body !== undefined) for (const at of [0, 1, 2]) request.write(third(body, at));
      else if (body !== undefined) request.write(body);
      request.end();
    });
  }

  close(): void {
    this.#agent.destroy();
  }
}

function third(body: Buffer, at: number): Buffer {
  const size = Math.ceil(body.length / 3);
  return body.subarray(at * size, (at + 1) * size);
}

function read(status: number, headers: IncomingHttpHeaders, body: Buffer): FuzzAnswer {
  const isJson = /^application\/(problem\+)?json\b/.test(headers['content-type'] ?? '');
  return { status, headers, body, json: isJson ? parsed(body.toString()) : undefined };
}

/** What a node uploads as JSON comes back as it was, JSON or not. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
