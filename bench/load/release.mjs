import pg from 'pg';
import { queueNext } from '../fill/next-in-line.mjs';
import { HOT } from '../fill/nodes.mjs';
import { nextIndex } from '../fill/runs.mjs';
import { Connection, expectStatus } from './connection.mjs';
import { timed } from './timed.mjs';

/**
 * Plays the hot node of a cell: reports its run, for which the oldest run that wants this node is promoted before the
 * answer comes. Behind each measured report stand, unmeasured, the claim of the promoted run, which proves that it is
 * RUNNING, and the next run in line, put there past the program so that the queue is as deep as the cell says.
 */
export default class Release {
  constructor({ url, databaseUrl }) {
    this.url = url;
    this.client = new pg.Client({ connectionString: databaseUrl });
    this.reports = new Connection(url);
    this.claims = new Connection(url);
  }

  async start() {
    await this.client.connect();
    const { rows } = await this.client.query('SELECT run_id, nonce FROM leases WHERE node_id = $1', [HOT]);
    this.held = rows[0];
    this.next = await nextIndex(this.client, 'next-');
  }

  /** The milliseconds of so many releases, or of as many as there was time for. */
  releases(count, seconds) {
    return timed(count, seconds, () => this.#release(false));
  }

  /** The same, from the sending of the result to the answer of the claim that waits for it. */
  claimed(count, seconds) {
    return timed(count, seconds, () => this.#release(true));
  }

  async #release(parked) {
    const claim = parked ? this.#claim(60) : undefined;
    const runId = await queueNext(this.client, this.next++);
    const path = `/v1/runs/${this.held.run_id}/steps/1/result`;
    const body = { node_id: HOT, attempt: 1, exit_code: 0 };
    const request = this.reports.prepare('POST', path, body, { 'mediator-lease': this.held.nonce });
    const began = performance.now();
    const [reported, claimed] = await Promise.all([
      this.reports.sendPrepared(request),
      claim?.then((answer) => ({ ...answer, body: answer.body, ms: performance.now() - began })),
    ]);
    expectStatus(reported, 200);
    const { body: given } = claimed ?? (await this.#claim(0));
    if (given?.run_id !== runId) throw new Error(`${given?.run_id} was claimed, and ${runId} was not promoted in time`);
    this.held = { run_id: runId, nonce: given.lease.nonce };
    return (claimed ?? reported).ms;
  }

  async #claim(wait) {
    return expectStatus(await this.claims.send('POST', `/v1/nodes/${HOT}/claim?wait=${wait}`), 200);
  }

  async stop() {
    this.reports.close();
    this.claims.close();
    await this.client.end();
  }
}
