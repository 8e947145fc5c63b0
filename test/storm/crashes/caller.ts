import type { Answer } from '../../support/http.js';
import type { TestDatabase } from '../../support/database.js';
import type { Pledge } from './pledges.js';

/** A request, and how its answer is to be taken. */
export interface Asked {
  method: string;
  path: string;
  /** Sent as JSON, or as it is where it is bytes. */
  body?: unknown;
  headers?: Record<string, string>;
  /** The statuses that are right. */
  fine: number[];
  /** Those that are right when it is sent again, since its answer did not come: it may have been done, or not. */
  again: number[];
  /** Where it is sent to then, if not to the same. */
  pathAgain?: string;
  /** What is promised by an answer below 300, or by the refusal of a submission, which is stored. */
  keeps?: (answer: Answer) => Pledge[];
}

/** A server that is ready, and yet answers 503 so often in a row, is not. */
const MOST_TRIES = 20;

/** The answer did not come: the server is gone. */
export class ServerGone extends Error {}

/** Whoever calls the server, nodes and people alike: remembers what was promised, and what got no answer. */
export class Caller {
  url = '';
  /** Other servers of the same database: requests go to each in turn. */
  others: string[] = [];
  #turn = 0;
  /** How many answers came, and how often it was told to come again. */
  answers = 0;
  refused = 0;
  readonly #patience: (() => Promise<unknown>) | undefined;
  #pledges = new Map<string, Pledge>();
  #unanswered: Asked[] = [];

  /** `patience`: after a 503 it waits for this and comes again; whether the first time was heard is open. Without it, a 503 is a fault. */
  constructor(
    private readonly database: TestDatabase,
    patience?: () => Promise<unknown>,
  ) {
    this.#patience = patience;
  }

  async ask(asked: Asked): Promise<Answer> {
    let answer = await this.#send(asked);
    for (let tries = 1; answer.status === 503 && this.#patience !== undefined; tries++) {
      this.refused += 1;
      if (!(Number(answer.headers.get('retry-after')) >= 1)) throw new Error(`${asked.path}: 503 without Retry-After`);
      if (tries > MOST_TRIES) break;
      await this.#patience();
      asked = { ...asked, fine: [...asked.fine, ...asked.again] };
      answer = await this.#send(asked);
    }
    this.answers += 1;
    if (!asked.fine.includes(answer.status)) {
      throw new Error(`${asked.method} ${asked.path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    }
    if (answer.status < 300 || answer.status === 422) {
      for (const pledge of asked.keeps?.(answer) ?? []) this.#pledges.set(pledge.name, pledge);
    }
    return answer;
  }

  /** What is about to change is no longer promised. */
  forget(pledge: Pledge): void {
    this.#pledges.delete(pledge.name);
  }

  /** Sends again what got no answer. Gives how much that was. */
  async askAgain(): Promise<number> {
    const unanswered = this.#unanswered.splice(0);
    for (const asked of unanswered) {
      await this.ask({ ...asked, path: asked.pathAgain ?? asked.path, fine: asked.again });
    }
    return unanswered.length;
  }

  /** Looks whether what was promised is so. */
  async look(): Promise<{ looked: number; broken: string[] }> {
    const broken: string[] = [];
    for (const { name, sql, params } of this.#pledges.values()) {
      if ((await this.database.sql(sql, params)).length === 0) broken.push(name);
    }
    return { looked: this.#pledges.size, broken };
  }

  /** What was promised so far is not looked at any more. */
  beginAnew(): void {
    this.#pledges = new Map();
    this.#unanswered = [];
  }

  async #send(asked: Asked): Promise<Answer> {
    const { method, path, body, headers = {} } = asked;
    const isBytes = body instanceof Uint8Array;
    try {
      const urls = [this.url, ...this.others];
      const response = await fetch(urls[this.#turn++ % urls.length]! + path, {
        method,
        headers: { ...(body !== undefined && !isBytes && { 'content-type': 'application/json' }), ...headers },
        body: isBytes ? Buffer.from(body) : body === undefined ? undefined : JSON.stringify(body),
      });
      const text = await response.text();
      return {
        status: response.status,
        headers: response.headers,
        body: text.startsWith('{') ? JSON.parse(text) : text,
      };
    } catch {
      this.#unanswered.push(asked);
      throw new ServerGone();
    }
  }
}
