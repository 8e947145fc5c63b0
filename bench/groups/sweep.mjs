/*
 * One sweep that promotes as many runs as there are free nodes, of ten signatures, over the same promotions one by one, 8 at
 * a time: by the program's own use case, and by `pg` alone. A sweep has to find for each run the node that the others are
 * told: its looks at the queue and the fleet, and the matching, are in its time.
 */
import { boardNames, fleet } from '../fill/cells.mjs';
import { contractOf, kindOf } from '../fill/kinds.mjs';
import { endRuns, fillRuns } from '../fill/runs.mjs';
import { HotVerbs } from '../parts/hot-verbs.mjs';
import { playground, withAll } from '../parts/playground.mjs';
import { Program } from '../parts/program.mjs';
import { Bare } from '../reference/bare.mjs';

const KINDS = Array.from({ length: 10 }, (_, index) =>
  kindOf(contractOf({ capability: 'board', attrs: { [`f${String(index).padStart(2, '0')}`]: 'y' } })),
);

export async function measure(bench) {
  const nodes = bench.scaled(1002, 34);
  const template = await fleet(bench.databases, nodes);
  await withAll({ play: () => playground(bench, template, 'sweep', { mediator: false }) }, async ({ play }) => {
    const { database } = play;
    const client = await database.connect();
    const program = await Program.start(database.url, { MEDIATOR_DB_POOL_SIZE: '20' });
    const bare = new Bare(database.url, 8);
    const verbs = new HotVerbs(client, nodes);
    try {
      const sides = {
        sweep: () => sweeps(client, program, boardNames(nodes).length, bench.slice),
        program: () => verbs.perSecond(program, 'promote', 8, bench.slice),
        bare: () => verbs.perSecond(bare, 'promote', 8, bench.slice),
      };
      await verbs.perSecond(program, 'promote', 8, bench.warmUp);
      await verbs.perSecond(bare, 'promote', 8, bench.warmUp);
      await sweeps(client, program, boardNames(nodes).length, bench.warmUp);
      const { sweep: of, program: own, bare: other } = await bench.alternate(sides);
      const name = `one sweep that promotes ${nodes - 2}`;
      bench.figure({ name, unit: '/s', of, over: own, overName: 'promote, 8 clients', least: 1 });
      bench.figure({ name, unit: '/s', of, over: other, overName: 'bare pg, one CTE, 8 clients' });
    } finally {
      await bare.stop();
      await program.stop();
      await client.end();
    }
  });
}

let filled = 0;

/** Promotions in a second, by sweeps that promote `size` each until `count` have been promoted. */
async function sweeps(client, program, size, count) {
  let [done, seconds] = [0, 0];
  while (done < count) {
    const prefix = `sweep-${filled++}-`;
    await fillRuns(client, { state: 'queued', kinds: KINDS, prefix, count: size });
    const began = performance.now();
    await program.wake();
    seconds += (performance.now() - began) / 1000;
    const { rows } = await client.query("SELECT count(*)::int FROM runs WHERE state = 'RUNNING'");
    if (rows[0].count !== size) throw new Error(`the sweep promoted ${rows[0].count} of ${size}`);
    await endRuns(client, prefix);
    done += size;
  }
  return done / seconds;
}
