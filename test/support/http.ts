import { once } from 'node:events';
import { type IncomingHttpHeaders, type IncomingMessage, request as httpRequest } from 'node:http';
import { expectDeclaredHeaders } from './documented-headers.js';

/** An answer of the server, its body read as what it is. */
export interface Answer<Body = any> {
  status: number;
  headers: Headers;
  body: Body;
}

export interface RequestOptions {
  body?: unknown;
  headers?: Record<string, string>;
  signal?: AbortSignal;
}

/** Sends a request to the server under test; a body is sent as JSON. Throws where a header of the answer is not documented. */
export type Send = <Body = any>(method: string, path: string, options?: RequestOptions) => Promise<Answer<Body>>;

/** `ofThisVersion`: false of a server whose document is another. */
export function sender(base: string, { ofThisVersion = true } = {}): Send {
  return async (method, path, { body, headers = {}, signal } = {}) => {
    const response = await fetch(base + path, {
      method,
      signal,
      headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    if (ofThisVersion) expectDeclaredHeaders(method, path, response);
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.includes('json') ?? false;
    return {
      status: response.status,
      headers: response.headers,
      body: isJson && text !== '' ? JSON.parse(text) : text,
    };
  };
}

/** Sends a request by which nothing is asked for that it does not say, and gives the body as it came. */
export async function fetchRaw(
  url: string,
  headers: Record<string, string>,
  method = 'GET',
): Promise<{ status: number; headers: IncomingHttpHeaders; body: Buffer }> {
  const request = httpRequest(url, { method, headers }).end();
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  const pieces: Buffer[] = [];
  for await (const piece of response) pieces.push(piece as Buffer);
  return { status: response.statusCode!, headers: response.headers, body: Buffer.concat(pieces) };
}
