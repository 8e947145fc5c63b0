/* The first request after a while in which nobody asked anything, over one of many that follow each other. */
import { setTimeout as sleep } from 'node:timers/promises';
import { fleet } from '../fill/cells.mjs';
import { percentile } from '../parts/figures.mjs';
import { playground, withAll } from '../parts/playground.mjs';

/** Longer than pools keep a connection that nobody uses where nobody says otherwise. */
const QUIET_SECONDS = 12;

export async function measure(bench) {
  const nodes = bench.scaled(1000, 34);
  const template = await fleet(bench.databases, nodes);
  const make = { play: () => playground(bench, template, 'quiet', { player: 'requests', given: { nodes } }) };
  await withAll(make, async ({ play }) => {
    const submit = async (count, connections) => (await play.ask('submit', { count, connections })).times;
    const first = async (connections) => {
      // It learns what all the nodes have become that were freed past the program after the last slice.
      await submit(1, 1);
      await sleep(bench.scaled(QUIET_SECONDS, 0.1) * 1000);
      return Math.max(...(await submit(connections, connections)));
    };
    const busy = async (connections) => percentile(await submit(bench.fewSamples, connections), 0.5);
    for (const connections of [1, 8]) {
      await submit(bench.warmUp, connections);
      const { after, amid } = await bench.alternate({ after: () => first(connections), amid: () => busy(connections) });
      const which = connections === 1 ? 'the first submission' : `the slowest of ${connections} at once`;
      const name = `${which} after ${QUIET_SECONDS} s of quiet`;
      bench.figure({ name, unit: 'ms', of: after, over: amid, overName: 'p50 of those that follow each other' });
    }
  });
}
