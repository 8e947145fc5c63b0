import pg from 'pg';
import { queueNext } from '../fill/next-in-line.mjs';
import { HOT } from '../fill/nodes.mjs';
import { nextIndex } from '../fill/runs.mjs';
import { Bare } from '../reference/bare.mjs';
import { timed } from './timed.mjs';

// Unmeasured: the promoted run is claimed, so that the next round has something to settle.
const CLAIM = `
  WITH claimed AS (
    UPDATE steps SET state = 'CLAIMED', started_at = clock_timestamp() WHERE run_id = $1 RETURNING run_id, seq, attempt, node_id),
  begun AS (
    INSERT INTO attempts (run_id, seq, attempt, node_id, state) SELECT run_id, seq, attempt, node_id, 'CLAIMED' FROM claimed)
  SELECT l.run_id, l.nonce FROM claimed JOIN leases l USING (run_id)`;

/** What a release is at least: settling a run and promoting the next by one statement each, here and without HTTP. */
export default class BareRelease {
  constructor({ databaseUrl }) {
    this.client = new pg.Client({ connectionString: databaseUrl });
    this.bare = new Bare(databaseUrl, 1);
  }

  async start() {
    await this.client.connect();
    const { rows } = await this.client.query('SELECT run_id, nonce FROM leases WHERE node_id = $1', [HOT]);
    this.held = rows[0];
    this.next = await nextIndex(this.client, 'next-');
  }

  releases(count, seconds) {
    return timed(count, seconds, () => this.#release());
  }

  async #release() {
    const runId = await queueNext(this.client, this.next++);
    const began = performance.now();
    await this.bare.settle({ ...this.held, node: HOT });
    await this.bare.promote({ run_id: runId, node: HOT });
    const ms = performance.now() - began;
    this.held = (await this.client.query(CLAIM, [runId])).rows[0];
    return ms;
  }

  async stop() {
    await this.bare.stop();
    await this.client.end();
  }
}
