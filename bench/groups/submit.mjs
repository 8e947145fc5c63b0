/*
 * Submissions over HTTP, 8 connections, each of a run whose node is free, over: the rows of one by `pg` alone in one
 * statement, in this process; pg-boss `send` and graphile-worker `addJob`, each behind a bare Fastify route that is given
 * the same body. All on one database, in the same rounds. Then the same where all of them want the same nodes.
 *
 * A peer's job is one row, by one statement, for nobody in particular; a submission is judged, matched, and leaves six rows
 * and a lease. Every side has as many connections to the database as the others (10), and everything is durable.
 */
import { boardNames, fleet } from '../fill/cells.mjs';
import { onNode } from '../fill/kinds.mjs';
import { median, percentile } from '../parts/figures.mjs';
import { HotVerbs } from '../parts/hot-verbs.mjs';
import { startProcess } from '../parts/mediator.mjs';
import { playground, withAll } from '../parts/playground.mjs';
import { Bare } from '../reference/bare.mjs';

const peerScript = (name) => new URL(`../peers/${name}.mjs`, import.meta.url).pathname;

export async function measure(bench) {
  const nodes = bench.scaled(1000, 34);
  const template = await fleet(bench.databases, nodes);
  const make = { play: () => playground(bench, template, 'submit', { player: 'requests', given: { nodes } }) };
  await withAll(make, async ({ play }) => {
    const client = await play.database.connect();
    const bare = new Bare(play.database.url, 8);
    const env = { DATABASE_URL: play.database.url };
    const peers = [];
    try {
      for (const name of ['pg-boss', 'graphile-worker']) peers.push(await startProcess(peerScript(name), env));
      await measureSubmissions(bench, play, new HotVerbs(client, nodes), bare, peers);
    } finally {
      for (const peer of peers) await peer.stop();
      await bare.stop();
      await client.end();
    }
  });
}

/** Beside the comparison: nothing is asked of it. */
const sameOf = (count) => Math.ceil(count / 4);

async function measureSubmissions(bench, play, verbs, bare, [boss, worker]) {
  const { contract } = onNode(boardNames(3)[0]);
  const job = { method: 'POST', path: '/jobs', body: contract, wanted: 201, connections: 8 };
  const perSecondBare = (count) => verbs.perSecond(bare, 'create', 8, count);
  const sides = (count) => ({
    own: () => play.ask('submit', { count }),
    bare: () => perSecondBare(count),
    boss: () => play.ask('repeat', { ...job, url: boss.url, count }),
    worker: () => play.ask('repeat', { ...job, url: worker.url, count }),
    same: () => play.ask('submit', { count: sameOf(count), own: false }),
  });
  for (const side of Object.values(sides(bench.warmUp))) await side();
  const results = await bench.alternate(sides(bench.slice));

  const rate = (name) => results[name].map((slice) => slice.perSecond ?? slice);
  const late = (name) => results[name].map(({ times }) => percentile(times, 0.99));
  const name = 'submit over HTTP, 8 connections';
  const given = { name, unit: '/s', of: rate('own') };
  bench.figure({ ...given, over: rate('bare'), overName: 'bare pg, one CTE, in process', least: 0.5 });
  bench.figure({ ...given, over: rate('boss'), overName: 'pg-boss send, bare Fastify', least: 1.2 });
  bench.figure({ ...given, over: rate('worker'), overName: 'graphile-worker addJob, bare Fastify', least: 1.5 });
  const p99 = { name: `p99 of ${name}`, unit: 'ms', of: late('own') };
  bench.figure({ ...p99, over: late('boss'), overName: 'pg-boss' });
  bench.figure({ ...p99, over: late('worker'), overName: 'graphile-worker' });
  const queued = median(results.same.map((slice) => slice.queued));
  const note = `8 at a time want the node that the matcher prefers; ${queued} of ${sameOf(bench.slice)} were answered 202`;
  bench.figure({
    name: `${name}, all for the same nodes`,
    unit: '/s',
    of: rate('same'),
    over: rate('own'),
    overName: 'each for its own',
    note,
  });
}
