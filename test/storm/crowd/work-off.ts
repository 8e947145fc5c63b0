import { NODES, OFFERS } from '../small-fleet.js';
import type { Client } from './client.js';
import type { Crowd } from './crowd.js';

/** More rounds than any run can need: all nodes work in each, and a loop goes round three times at most. */
const MOST_ROUNDS = 300;

/**
 * From now on every node offers what it can, does what it is given and does it well, and every question is answered: until
 * no run is left that is not over. Gives the runs that are stranded.
 */
export async function workOff(crowd: Crowd, client: Client): Promise<string[]> {
  for (let round = 1; round <= MOST_ROUNDS; round++) {
    const open = await openRuns(crowd);
    if (open.length === 0) return [];
    await Promise.all(NODES.map((node) => workOn(crowd, client, node)));
    await client.answer('well');
  }
  return openRuns(crowd);
}

async function openRuns({ database }: Crowd): Promise<string[]> {
  const rows = await database.sql<{ run_id: string }>(
    "SELECT run_id FROM runs WHERE state IN ('QUEUED', 'RUNNING') ORDER BY created_at, seq",
  );
  return rows.map(({ run_id }) => run_id);
}

/** The node goes on as the instance that it was last, and with what it had in hand. */
async function workOn(crowd: Crowd, client: Client, node_id: string): Promise<void> {
  const [server] = crowd.servers;
  const [known] = await crowd.database.sql<{ instance: string }>('SELECT instance FROM nodes WHERE node_id = $1', [
    node_id,
  ]);
  const instance = known?.instance ?? '';
  const advert = { node_id, capabilities: OFFERS, instance, drain: '' };
  crowd.heed(`advert of ${node_id}`, await server!.send('POST', '/v1/nodes', { body: advert }), '200');
  crowd.heed(`lift of ${node_id}`, await server!.send('DELETE', `/v1/nodes/${node_id}/hold`), '200');
  const inHand = await crowd.database.sql<{ run_id: string; seq: number; attempt: number }>(
    "SELECT run_id, seq, attempt FROM steps WHERE node_id = $1 AND state = 'CLAIMED'",
    [node_id],
  );
  for (const { run_id, seq, attempt } of inHand) {
    const claim = crowd.claims.findLast((one) => one.run_id === run_id && one.seq === seq && one.attempt === attempt);
    if (claim !== undefined) await client.finish(claim, 'well');
  }
  const headers: Record<string, string> = instance === '' ? {} : { 'mediator-instance': instance };
  const claimed = await server!.send('POST', `/v1/nodes/${node_id}/claim?wait=0`, { headers });
  crowd.heed(`claim of ${node_id}`, claimed, '200', '204');
  if (claimed.status !== 200) return;
  crowd.hearClaim(claimed.body, instance);
  await client.finish(claimed.body, 'well');
}
