/* A submission that cannot go, over HTTP: stored as QUEUED, the queue woken, answered with the reason why it waits. */
import { cell } from '../fill/cells.mjs';
import { percentile } from '../parts/figures.mjs';
import { playground, withAll } from '../parts/playground.mjs';

/** A slice that is slower than this is cut short. */
const LONGEST_SLICE = 60;

export async function measure(bench) {
  const base = { nodes: bench.scaled(1000, 40), signatures: bench.scaled(100, 10) };
  const depths = [0, bench.scaled(100_000, 1000)];
  const make = {};
  for (const queued of depths) {
    const template = await cell(bench.databases, { ...base, queued });
    make[queued] = () => playground(bench, template, 'blocked', { player: 'requests' });
  }
  await withAll(make, async (made) => {
    const sides = (count, seconds) =>
      Object.fromEntries(depths.map((queued) => [queued, () => made[queued].ask('submitBlocked', { count, seconds })]));
    const count = Math.ceil(bench.samples / 2);
    for (const side of Object.values(sides(bench.fewSamples, LONGEST_SLICE / 4))) await side();
    const results = await bench.alternate(sides(count, LONGEST_SLICE));
    const [none, most] = depths.map((queued) => results[queued]);
    const short = Math.min(...most.map((slice) => slice.length));
    const note = short < count ? `a slice took too long and ended after ${short} submissions` : undefined;
    const at = (slices, share) => slices.map((slice) => percentile(slice, share));
    const given = { unit: 'ms', overName: `${depths[0]} queued` };
    const name = `a submission that cannot go, ${depths[1]} queued`;
    bench.figure({ ...given, name: `p50, ${name}`, of: at(most, 0.5), over: at(none, 0.5), most: 1.15, note });
    bench.figure({ ...given, name: `p99, ${name}`, of: at(most, 0.99), over: at(none, 0.99) });
  });
}
