/*
 * A run's whole life over HTTP at 8 connections: submitted and queued, promoted by the report of the one before it, claimed,
 * reported. Over what the submission, the promotion and the settlement would take together by `pg` alone: 1 / (1/submit +
 * 1/promote + 1/settle), each at 8 clients. The claim and the seal of the record are in the cycle and not in the reference; the
 * submission of the reference is the one that is matched at once, which leaves a lease and a grant more than one that waits.
 */
import { fleet } from '../fill/cells.mjs';
import { HotVerbs, VERBS } from '../parts/hot-verbs.mjs';
import { playground, withAll } from '../parts/playground.mjs';
import { Bare } from '../reference/bare.mjs';

export async function measure(bench) {
  const nodes = bench.scaled(1000, 34);
  const template = await fleet(bench.databases, nodes);
  const make = {
    http: () => playground(bench, template, 'cycle', { player: 'cycle', given: { nodes, connections: 8 } }),
    bare: () => playground(bench, template, 'bare', { mediator: false }),
  };
  await withAll(make, async ({ http, bare: { database } }) => {
    const client = await database.connect();
    const bare = new Bare(database.url, 8);
    const verbs = new HotVerbs(client, nodes);
    const sides = (count) => ({
      http: () => http.ask('cycles', count),
      ...Object.fromEntries(VERBS.map((verb) => [verb, () => verbs.perSecond(bare, verb, 8, count)])),
    });
    try {
      for (const side of Object.values(sides(bench.warmUp))) await side();
      const { http: of, create, promote, settle } = await bench.alternate(sides(bench.slice));
      const over = of.map((_, round) => 1 / (1 / create[round] + 1 / promote[round] + 1 / settle[round]));
      const overName = '1 ÷ (1/submit + 1/promote + 1/settle), bare pg';
      bench.figure({ name: 'full cycle over HTTP, 8 connections', unit: '/s', of, over, overName, least: 0.3 });
    } finally {
      await bare.stop();
      await client.end();
    }
  });
}
