import { request as httpRequest } from 'node:http';
import { expectDeclaredHeaders } from './documented-headers.js';
import type { Answer } from './http.js';
import type { PlayedClaim } from './played-node.js';

export type Bytes = string | Uint8Array<ArrayBuffer>;

export interface UploadOptions {
  /** Of the body; none is sent unless it is given. */
  type?: string;
  attempt?: number;
  /** Another nonce than that of the claim; '' sends no header. */
  lease?: string;
  headers?: Record<string, string>;
}

/** Where an output of a claimed step is uploaded. */
export function blobPath({ run_id, seq }: PlayedClaim, name: string): string {
  return `/v1/runs/${run_id}/steps/${seq}/blobs/${name}`;
}

/** Sends bytes as they are. */
export async function put(url: string, body: Bytes | undefined, headers: Record<string, string>): Promise<Answer> {
  const sent = typeof body === 'string' ? new TextEncoder().encode(body) : body;
  const response = await fetch(url, { method: 'PUT', headers, body: sent });
  expectDeclaredHeaders('PUT', new URL(url).pathname, response);
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: text === '' ? undefined : JSON.parse(text) };
}

/** Uploads an output of a claimed step, by the right that came with the claim unless told otherwise. */
export function upload(
  server: { url: string },
  claim: PlayedClaim,
  name: string,
  body: Bytes | undefined,
  { type, attempt, lease = claim.lease?.nonce, headers = {} }: UploadOptions = {},
): Promise<Answer> {
  const query = attempt === undefined ? '' : `?attempt=${attempt}`;
  return put(server.url + blobPath(claim, name) + query, body, {
    ...(lease && { 'mediator-lease': lease }),
    ...(type !== undefined && { 'content-type': type }),
    ...headers,
  });
}

/** Adds to a log of a claimed step; `query` begins with what is asked for, such as `offset=3`. */
export function writeLog(
  server: { url: string },
  claim: PlayedClaim,
  body: Bytes | undefined,
  query = '',
  lease: string = claim.lease?.nonce,
): Promise<Answer> {
  const path = `/v1/runs/${claim.run_id}/steps/${claim.seq}/log`;
  return put(`${server.url}${path}?${query}`, body, lease ? { 'mediator-lease': lease } : {});
}

/** An upload whose body the test sends piece by piece. */
export interface OpenUpload {
  send(bytes: Bytes): void;
  end(): void;
  /** Closes the connection in the middle. */
  breakOff(): void;
  answer: Promise<{ status: number; code?: string; headers: Record<string, unknown> }>;
  /** The server has asked for the body (Expect: 100-continue). */
  continued: Promise<void>;
  /** The connection is closed, by whichever side. */
  closed: Promise<void>;
}

export function openUpload(url: string, headers: Record<string, string>): OpenUpload {
  const request = httpRequest(url, { method: 'PUT', headers, agent: false });
  request.flushHeaders();
  const answer = new Promise<Awaited<OpenUpload['answer']>>((resolve, reject) => {
    request.once('error', reject);
    request.once('response', (response) => {
      let text = '';
      response.on('data', (chunk) => (text += String(chunk)));
      response.once('end', () => {
        const code = text === '' ? undefined : (JSON.parse(text) as { code: string }).code;
        resolve({ status: response.statusCode!, code, headers: response.headers });
      });
    });
  });
  // Whoever awaits the answer hears of its fault; until then it is no unhandled one.
  answer.catch(() => undefined);
  return {
    send: (bytes) => void request.write(bytes),
    end: () => void request.end(),
    breakOff: () => void request.destroy(),
    answer,
    closed: new Promise((resolve) => {
      request.once('socket', (socket) => socket.once('close', () => resolve()));
    }),
    continued: new Promise((resolve) => request.once('continue', resolve)),
  };
}
