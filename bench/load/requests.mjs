import pg from 'pg';
import { boardNames } from '../fill/cells.mjs';
import { ANY_BOARD, onNode } from '../fill/kinds.mjs';
import { endRuns } from '../fill/runs.mjs';
import { crowd } from '../parts/crowd.mjs';
import { Connection, expectStatus } from './connection.mjs';
import { timed } from './timed.mjs';

/** Sends requests over kept connections, as fast as they are answered. */
export default class Requests {
  constructor({ databaseUrl, url, nodes }) {
    this.url = url;
    this.databaseUrl = databaseUrl;
    this.boards = nodes === undefined ? [] : boardNames(nodes);
    this.batches = 0;
    this.connections = new Map();
  }

  async start() {
    this.client = new pg.Client({ connectionString: this.databaseUrl });
    await this.client.connect();
  }

  /** The same request so many times: how many in a second, and the milliseconds of each. */
  async repeat({ url = this.url, method = 'GET', path, body, headers, count, connections = 1, wanted = 200 }) {
    return this.#all(url, connections, Array(count).fill([method, path, body, headers]), [wanted]);
  }

  /**
   * Submissions, in batches of as many as there are nodes: each for a node of its own, or all for any that is free. Between
   * two batches all of them are ended, past the program. `queued`: how many had to wait for a sweep that did not serve them.
   */
  async submit({ count, connections = 8, own = true }) {
    let [done, seconds, queued] = [0, 0, 0];
    const times = [];
    while (done < count) {
      const prefix = `submit-${String(this.batches++).padStart(5, '0')}-`;
      const requests = this.boards.slice(0, count - done).map((node, index) => {
        const { contract } = own ? onNode(node) : ANY_BOARD;
        return ['POST', '/v1/runs', { run_id: `${prefix}${index}`, ...contract }, { 'mediator-principal': 'bench' }];
      });
      const batch = await this.#all(this.url, connections, requests, [201, 202]);
      await endRuns(this.client, prefix);
      done += requests.length;
      seconds += batch.seconds;
      queued += batch.answers.filter((status) => status === 202).length;
      times.push(...batch.times);
    }
    if (own && queued > 0) throw new Error(`${queued} of ${done} submissions did not get their free node`);
    return { perSecond: done / seconds, times, queued };
  }

  /** Submissions that have to wait, one after the other, each ended before the next: the queue stays as deep as it is. */
  submitBlocked({ count, seconds }) {
    const [connection] = this.#connectionsTo(this.url, 1);
    return timed(count, seconds, async () => {
      const run_id = `wait-${this.batches++}-`;
      const request = connection.prepare('POST', '/v1/runs', { run_id, ...ANY_BOARD.contract });
      const answer = expectStatus(await connection.sendPrepared(request), 202);
      await endRuns(this.client, run_id);
      return answer.ms;
    });
  }

  async get(path) {
    const [connection] = this.#connectionsTo(this.url, 1);
    return expectStatus(await connection.send('GET', path), 200).body;
  }

  async #all(url, count, requests, wanted) {
    const idle = this.#connectionsTo(url, count).slice(0, count);
    const prepared = requests.map((request) => idle[0].prepare(...request));
    const answers = [];
    const { seconds, times } = await crowd(count, prepared, async (request) => {
      const connection = idle.pop();
      answers.push(expectStatus(await connection.sendPrepared(request), ...wanted).status);
      idle.push(connection);
    });
    return { perSecond: requests.length / seconds, seconds, times, answers };
  }

  #connectionsTo(url, count) {
    const kept = this.connections.get(url) ?? [];
    while (kept.length < count) kept.push(new Connection(url));
    this.connections.set(url, kept);
    return kept;
  }

  async stop() {
    for (const connection of [...this.connections.values()].flat()) connection.close();
    await this.client.end();
  }
}
