/*
 * The three transactions that every run goes through, by the program's own use cases in this process, over the same rows by
 * `pg` alone in one statement, in the same process and database: how many in a second, at 1 and 8 clients, and at 16 over 8.
 */
import { fleet } from '../fill/cells.mjs';
import { HotVerbs, VERBS } from '../parts/hot-verbs.mjs';
import { playground, withAll } from '../parts/playground.mjs';
import { Program } from '../parts/program.mjs';
import { Bare } from '../reference/bare.mjs';
import { hasPgbench, Pgbench } from '../reference/pgbench.mjs';

const CLIENTS = [1, 8, 16];
/** Of `promote` alone something is asked at 8 clients. */
const LEAST_AT_8 = { promote: 0.75 };

export async function measure(bench) {
  // None of the three reads the fleet: as many nodes as a slice has transactions, and a slice is one batch.
  const nodes = bench.slice + 2;
  const template = await fleet(bench.databases, nodes);
  await withAll({ play: () => playground(bench, template, 'hot', { mediator: false }) }, async ({ play }) => {
    const { database } = play;
    const client = await database.connect();
    const program = await Program.start(database.url, { MEDIATOR_DB_POOL_SIZE: '20' });
    const bare = new Bare(database.url, 8);
    const pgbench = hasPgbench() ? new Pgbench(client, database.url) : undefined;
    if (!pgbench) bench.say('pgbench is not installed: its figures are left out');
    try {
      await pgbench?.start();
      await measureVerbs(bench, new HotVerbs(client, nodes), { program, bare, pgbench });
    } finally {
      pgbench?.stop();
      await bare.stop();
      await program.stop();
      await client.end();
    }
  });
}

async function measureVerbs(bench, verbs, { program, bare, pgbench }) {
  for (const verb of VERBS) {
    await verbs.perSecond(program, verb, 8, bench.warmUp);
    await verbs.perSecond(bare, verb, 8, bench.warmUp);
    const sides = {};
    for (const clients of CLIENTS) {
      // One client has no others whose commits it could share: as many as take about as long.
      const count = clients === 1 ? Math.ceil(bench.slice / 4) : bench.slice;
      sides[`program ${clients}`] = () => verbs.perSecond(program, verb, clients, count);
      // At 16 the program is held against itself at 8.
      if (clients <= 8) sides[`bare ${clients}`] = () => verbs.perSecond(bare, verb, clients, count);
    }
    if (pgbench) {
      const whole = Math.ceil(bench.slice / 8) * 8;
      sides.pgbench = () => verbs.inBatches(verb, whole, (tasks) => pgbench.batch(verb, 8, tasks));
    }
    const results = await bench.alternate(sides);
    const title = verb === 'settle' ? 'report' : verb;
    for (const clients of CLIENTS.filter((one) => one <= 8)) {
      const name = `${title}, ${clients} ${clients === 1 ? 'client' : 'clients'}`;
      const [of, over] = [results[`program ${clients}`], results[`bare ${clients}`]];
      const least = clients === 8 ? LEAST_AT_8[verb] : undefined;
      bench.figure({ name, unit: '/s', of, over, overName: 'bare pg, one CTE', least });
    }
    const [of, over] = [results['program 16'], results['program 8']];
    bench.figure({ name: `${title}, 16 clients`, unit: '/s', of, over, overName: '8 clients', least: 0.95 });
    if (pgbench) {
      const given = { unit: '/s', over: results.pgbench, overName: 'pgbench, one CTE' };
      bench.figure({ ...given, name: `${title}, 8 clients`, of: results['program 8'] });
      bench.figure({ ...given, name: `${title} by bare pg, 8 clients`, of: results['bare 8'] });
    }
  }
}
