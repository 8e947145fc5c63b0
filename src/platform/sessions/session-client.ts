import type { Socket } from 'node:net';
import pg from 'pg';
import { optionsBehind } from './settings.js';

/** What pg has read from the URL and the environment. */
interface Parameters {
  options?: string;
  application_name?: string;
  query_timeout?: number | false;
  statement_timeout?: false;
  lock_timeout?: false;
  idle_in_transaction_session_timeout?: false;
  replication?: undefined;
}

/** What pg has, and its types leave out. */
interface Inner {
  connectionParameters: Parameters;
  connection: { stream: Socket };
}

/** A connection that has our settings, whatever DATABASE_URL says of its own. */
export class SessionClient extends pg.Client {
  constructor(config: pg.ClientConfig) {
    super(config);
    const parameters = (this as unknown as Inner).connectionParameters;
    parameters.options = optionsBehind(parameters.options);
    parameters.application_name = config.application_name;
    parameters.query_timeout = config.query_timeout ?? false;
    // Each of these would go as a parameter of its own, which counts more than `options`.
    parameters.statement_timeout = false;
    parameters.lock_timeout = false;
    parameters.idle_in_transaction_session_timeout = false;
    parameters.replication = undefined;
  }
}

/** Breaks the connection off without a word to the other end: a farewell would wait for the answers that do not come. */
export function breakOff(client: pg.ClientBase): void {
  streamOf(client).destroy();
}

export function streamOf(client: pg.ClientBase): Socket {
  return (client as unknown as Inner).connection.stream;
}
