import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { eventually } from './eventually.js';

/** What the webhook's receiver was sent. */
export interface Told {
  headers: IncomingHttpHeaders;
  text: string;
  body: any;
}

/** Answers what was sent; undefined: never. */
export type Answering = (told: Told, count: number) => Promise<number | undefined> | number | undefined;

/** A real HTTP server to which the webhook posts. */
export interface Receiver {
  url: string;
  /** Everything that was sent, in order of arrival. */
  told: Told[];
  /** From now on it answers like this; by itself it answers 204. */
  answer(by: Answering): void;
  /** Waits until that many were sent. */
  count(many: number): Promise<Told[]>;
  /** Nobody is at the address any more. */
  close(): Promise<void>;
}

export async function openReceiver(): Promise<Receiver> {
  const told: Told[] = [];
  let answering: Answering = () => 204;
  const take = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    let text = '';
    for await (const chunk of request.setEncoding('utf8')) text += chunk;
    const one = { headers: request.headers, text, body: JSON.parse(text) };
    told.push(one);
    const status = await answering(one, told.length);
    if (status !== undefined) response.writeHead(status, status === 302 ? { location: '/elsewhere' } : {}).end();
  };
  const server = createServer((request, response) => void take(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/asks`,
    told,
    answer: (by) => (answering = by),
    count: (many) => eventually(`the receiver was told ${many} times`, () => told.length >= many && told),
    close: async () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
