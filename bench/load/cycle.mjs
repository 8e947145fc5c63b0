import { boardNames } from '../fill/cells.mjs';
import { onNode } from '../fill/kinds.mjs';
import { crowd } from '../parts/crowd.mjs';
import { Connection, expectStatus } from './connection.mjs';

/**
 * So many nodes, each with a connection of its own and always one run at work: the next is submitted and queued, the report
 * of the one at work promotes it, and the node claims it.
 */
export default class Cycle {
  constructor({ url, nodes, connections }) {
    this.players = boardNames(nodes)
      .slice(0, connections)
      .map((node) => ({ node, connection: new Connection(url), contract: onNode(node).contract }));
  }

  async start() {
    for (const player of this.players) {
      await this.#submit(player, 201);
      await this.#claim(player);
    }
  }

  /** How many cycles in a second, all nodes together. */
  async cycles(count) {
    const idle = [...this.players];
    const { seconds } = await crowd(idle.length, Array(count).fill(0), async () => {
      const player = idle.pop();
      await this.#cycle(player);
      idle.push(player);
    });
    return count / seconds;
  }

  async #cycle(player) {
    const runId = await this.#submit(player, 202);
    const { connection, node, held } = player;
    const path = `/v1/runs/${held.run_id}/steps/1/result`;
    const body = { node_id: node, attempt: 1, exit_code: 0 };
    expectStatus(await connection.send('POST', path, body, { 'mediator-lease': held.nonce }), 200);
    await this.#claim(player);
    if (player.held.run_id !== runId) throw new Error(`${node} got ${player.held.run_id} instead of ${runId}`);
  }

  async #submit({ connection, contract }, status) {
    return expectStatus(await connection.send('POST', '/v1/runs', contract), status).body.run_id;
  }

  async #claim(player) {
    const answer = await player.connection.send('POST', `/v1/nodes/${player.node}/claim?wait=0`);
    const { run_id, lease } = expectStatus(answer, 200).body;
    player.held = { run_id, nonce: lease.nonce };
  }

  stop() {
    for (const { connection } of this.players) connection.close();
  }
}
