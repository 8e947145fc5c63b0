/* The route of a result by Nest with its validation over the same by bare Fastify with a schema; no database behind either. */
import { fleet } from '../fill/cells.mjs';
import { percentile } from '../parts/figures.mjs';
import { startProcess } from '../parts/mediator.mjs';
import { playground, withAll } from '../parts/playground.mjs';

const SERVER = new URL('../parts/route-server.mjs', import.meta.url).pathname;
const REQUEST = {
  method: 'POST',
  path: '/v1/runs/a-run/steps/1/result',
  headers: { 'mediator-lease': 'nonce' },
  body: { node_id: 'n1', attempt: 1, exit_code: 0, produced: ['image', 'log'] },
};

export async function measure(bench) {
  // The database is the player's, who needs none here.
  const template = await fleet(bench.databases, bench.scaled(1000, 34));
  const make = { play: () => playground(bench, template, 'overhead', { player: 'requests', mediator: false }) };
  await withAll(make, async ({ play }) => {
    const servers = {};
    try {
      for (const name of ['nest', 'bare']) servers[name] = await startProcess(SERVER, {}, [name]);
      const sides = (count) =>
        Object.fromEntries(
          Object.entries(servers).map(([name, { url }]) => [
            name,
            () => play.ask('repeat', { ...REQUEST, url, count, connections: 8 }),
          ]),
        );
      // Requests without a database are fast: a slice of as many as of transactions would be over at once.
      const count = bench.slice * 2;
      for (const side of Object.values(sides(count))) await side();
      const { nest, bare } = await bench.alternate(sides(count));
      const given = { overName: 'bare Fastify with a schema' };
      const rate = (slices) => slices.map(({ perSecond }) => perSecond);
      bench.figure({
        ...given,
        name: 'POST result by Nest, no database',
        unit: '/s',
        of: rate(nest),
        over: rate(bare),
      });
      const half = (slices) => slices.map(({ times }) => percentile(times, 0.5));
      bench.figure({ ...given, name: 'p50 of the same, 8 connections', unit: 'ms', of: half(nest), over: half(bare) });
    } finally {
      for (const server of Object.values(servers)) await server.stop();
    }
  });
}
