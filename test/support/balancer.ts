import { Agent, request } from 'node:http';

export interface Answered {
  status: number;
  body: any;
}

/**
 * Sends requests to several servers as a load balancer does: each to the next one, and on to another where the port is shut,
 * where the answer is 503 (that server is then left out), or where the connection broke before an answer came.
 */
export class Balancer {
  #turn = 0;
  readonly #out = new Set<string>();

  /** @param servers may change while it is used. */
  constructor(
    readonly servers: string[],
    /** A server took the request and gave no answer. */
    readonly lost: (server: string) => void,
  ) {}

  async send(
    method: string,
    path: string,
    { body, headers = {} }: { body?: unknown; headers?: Record<string, string> } = {},
  ): Promise<Answered> {
    const text = body === undefined ? undefined : JSON.stringify(body);
    const first = this.#turn++;
    for (let tried = 0; tried < this.servers.length; tried++) {
      const server = this.servers[(first + tried) % this.servers.length]!;
      if (this.#out.has(server)) continue;
      try {
        const answer = await send(server + path, method, text, headers);
        if (answer.status !== 503) return answer;
        this.#out.add(server);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ECONNREFUSED') this.lost(server);
      }
    }
    throw new Error(`no server has answered ${method} ${path}`);
  }
}

/** A connection for each request: one that is kept and closed under a request would look like a request that was lost. */
const alone = new Agent({ keepAlive: false });

function send(
  url: string,
  method: string,
  text: string | undefined,
  headers: Record<string, string>,
): Promise<Answered> {
  return new Promise((resolve, reject) => {
    const type = text === undefined ? {} : { 'content-type': 'application/json' };
    const sent = request(url, { method, agent: alone, headers: { ...type, ...headers } }, (response) => {
      let got = '';
      response.setEncoding('utf8');
      response.on('data', (part: string) => (got += part));
      response.on('error', reject);
      response.on('end', () => {
        const isJson = response.headers['content-type']?.includes('json') ?? false;
        resolve({ status: response.statusCode!, body: isJson && got !== '' ? JSON.parse(got) : got });
      });
    });
    sent.on('error', reject);
    sent.end(text);
  });
}
