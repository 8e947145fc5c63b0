/*
 * Release → next claim answered: a node reports its run while another call of its waits for the next step; from the sending
 * of the result to the answer of that claim, over HTTP. Over the peers' end of one job → start of the next, in process, on
 * the same database, in the same rounds; and beside their latency for a job that comes to an idle worker.
 *
 * The peers' next job is there already, and one worker alone asks for it, without a wait of its own between two: each
 * ends one job and takes the next, two transactions. Ours is all of: report, release, sweep, promotion and claim.
 */
import { cell } from '../fill/cells.mjs';
import { percentile } from '../parts/figures.mjs';
import { playground, withAll } from '../parts/playground.mjs';
import { Boss, GraphileWorker } from '../peers/latency.mjs';

const LONGEST_SLICE = 60;

export async function measure(bench) {
  const template = await cell(bench.databases, { nodes: bench.scaled(1000, 40), queued: 0, signatures: 1 });
  await withAll({ play: () => playground(bench, template, 'claim', { player: 'release' }) }, async ({ play }) => {
    const peers = { graphile: new GraphileWorker(play.database.url), boss: new Boss(play.database.url) };
    const started = [];
    try {
      for (const peer of Object.values(peers)) {
        await peer.start();
        started.push(peer);
      }
      const sides = (count) => ({
        own: () => play.ask('claimed', count, LONGEST_SLICE),
        graphileNext: () => peers.graphile.endToNext(count),
        bossNext: () => peers.boss.endToNext(count),
        // Beside the comparison, and each takes a job to be added and to be handled.
        graphileIdle: () => peers.graphile.toHandler(Math.ceil(count / 4)),
        bossIdle: () => peers.boss.toHandler(Math.ceil(count / 4)),
      });
      for (const side of Object.values(sides(bench.fewSamples))) await side();
      tell(bench, await bench.alternate(sides(Math.ceil(bench.samples / 2))));
    } finally {
      for (const peer of started) await peer.stop();
    }
  });
}

function tell(bench, results) {
  for (const [title, share] of [
    ['p50', 0.5],
    ['p99', 0.99],
  ]) {
    const at = (side) => results[side].map((slice) => percentile(slice, share));
    const given = { name: `${title} of release → next claim answered`, unit: 'ms', of: at('own') };
    const most = share === 0.5 ? { most: 1 } : {};
    bench.figure({ ...given, over: at('graphileNext'), overName: 'graphile-worker, end → next start', ...most });
    bench.figure({ ...given, over: at('bossNext'), overName: 'pg-boss, end → next start' });
    bench.figure({ ...given, over: at('graphileIdle'), overName: 'graphile-worker, available → handler' });
    bench.figure({ ...given, over: at('bossIdle'), overName: 'pg-boss, available → handler' });
  }
}
