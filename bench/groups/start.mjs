/* What a deep queue costs the process itself: how long until it is ready, and how much memory it holds afterwards. */
import { cell } from '../fill/cells.mjs';
import { playground } from '../parts/playground.mjs';
import { startMediatorProcess } from '../parts/mediator.mjs';
import { startThread } from '../parts/thread.mjs';

const RELEASE = new URL('../load/release.mjs', import.meta.url);
/** What a process does before it is weighed: a start alone has touched little. */
const RELEASES = 50;
const LONGEST_SLICE = 60;
const PAGES = ['/v1/queue', '/v1/queue?limit=200', '/v1/nodes'];

export async function measure(bench) {
  const depths = [0, bench.scaled(100_000, 1000)];
  const signatures = bench.scaled(100, 10);
  await measureStart(bench, { nodes: bench.scaled(1000, 40), signatures }, depths);
  await measureMemory(bench, { nodes: bench.scaled(10_000, 100), signatures }, depths);
}

async function measureStart(bench, base, depths) {
  const start = (one) => async () => {
    const started = await startMediatorProcess(one.database.url);
    await started.stop();
    return started.readyMs;
  };
  const results = await onEach(bench, base, depths, start);
  const [over, of] = depths.map((queued) => results[queued]);
  const name = `from exec to ready, ${depths[1]} queued, ${base.nodes} nodes`;
  bench.figure({ name, unit: 'ms', of, over, overName: `${depths[0]} queued`, most: 2 });
}

async function measureMemory(bench, base, depths) {
  if (process.platform !== 'linux') return void bench.say('resident memory is told by Linux only: left out');
  const weigh = (one) => async () => {
    const started = await startMediatorProcess(one.database.url);
    const player = await startThread(RELEASE, { url: started.url, databaseUrl: one.database.url });
    try {
      await player.ask('releases', bench.scaled(RELEASES, 3), LONGEST_SLICE);
      for (const page of PAGES) await (await fetch(started.url + page)).arrayBuffer();
      return started.residentMiB();
    } finally {
      await player.stop();
      await started.stop();
    }
  };
  const results = await onEach(bench, base, depths, weigh);
  const [none, most] = depths.map((queued) => results[queued]);
  const more = most.map((mib, round) => mib - none[round]);
  const told = `${depths[1]} queued, ${base.nodes} nodes`;
  bench.figure({
    name: `resident memory, ${told}`,
    unit: 'MiB',
    of: most,
    over: none,
    overName: `${depths[0]} queued`,
  });
  bench.figure({ name: `resident memory more than over an empty queue, ${told}`, unit: 'MiB', of: more, most: 64 });
}

/** Alternates between copies of the cells of both depths, without a program that stays. */
async function onEach(bench, base, depths, sideOf) {
  const made = {};
  try {
    for (const queued of depths) {
      const template = await cell(bench.databases, { ...base, queued });
      made[queued] = await playground(bench, template, 'start', { mediator: false });
    }
    return await bench.alternate(Object.fromEntries(depths.map((queued) => [queued, sideOf(made[queued])])));
  } finally {
    for (const one of Object.values(made)) await one.close();
  }
}
