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

/** Sends a request to the server under test; a body is sent as JSON. */
export type Send = <Body = any>(method: string, path: string, options?: RequestOptions) => Promise<Answer<Body>>;

export function sender(base: string): Send {
  return async (method, path, { body, headers = {}, signal } = {}) => {
    const response = await fetch(base + path, {
      method,
      signal,
      headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.includes('json') ?? false;
    return {
      status: response.status,
      headers: response.headers,
      body: isJson && text !== '' ? JSON.parse(text) : text,
    };
  };
}
