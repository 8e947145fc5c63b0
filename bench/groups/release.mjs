/*
 * Release → RUNNING over HTTP: from the sending of a result to its answer, which comes after the promotion of the run that
 * was waiting for this node, while others wait that cannot go. One thing is varied at a time: how many wait, how many nodes
 * there are, how many different requirements; then the worst of everything at once.
 *
 * With nothing queued, over settle and promote by `pg` alone, in process. By HTTP there are besides: the request judged and
 * answered, the queue and the fleet looked at, and the record of the run that is over, packed and sealed. Nothing of that
 * is taken off.
 */
import { cell } from '../fill/cells.mjs';
import { percentile } from '../parts/figures.mjs';
import { playground, withAll } from '../parts/playground.mjs';

/** A slice that is slower than this is cut short: what needs seconds for each release is known after a few. */
const LONGEST_SLICE = 60;

export async function measure(bench) {
  const sizes = {
    none: 0,
    some: bench.scaled(1000, 50),
    more: bench.scaled(10_000, 200),
    most: bench.scaled(100_000, 1000),
  };
  const nodes = { few: 10, some: bench.scaled(1000, 40), most: bench.scaled(10_000, 100) };
  const signatures = { one: 1, some: bench.scaled(100, 10), most: bench.scaled(10_000, 50) };
  const base = { nodes: nodes.some, signatures: signatures.some };

  const byDepth = Object.fromEntries(Object.values(sizes).map((queued) => [`${queued} queued`, { ...base, queued }]));
  const [none, ...deeper] = Object.keys(byDepth);
  // Only here something is asked of the tail.
  const asked = [none, `${sizes.most} queued`];
  const depth = await compareCells(bench, byDepth, { bareIn: none, asked });
  const told = `${base.nodes} nodes, ${base.signatures} signatures`;
  const settled = { over: depth.bare, overName: 'bare pg: settle, promote', samples: bench.samples };
  figure(bench, `0 queued, ${told}`, depth[none], { ...settled, most: { p50: 2.5 } });
  for (const name of deeper) {
    const most = byDepth[name].queued === sizes.most ? { p50: 1.15, p99: 1.5 } : {};
    const samples = asked.includes(name) ? bench.samples : bench.fewSamples;
    figure(bench, `${name}, ${told}`, depth[name], { over: depth[none], overName: none, most, samples });
  }

  const byNodes = Object.fromEntries(
    Object.values(nodes).map((count) => [`${count} nodes`, { ...base, nodes: count, queued: sizes.some }]),
  );
  const [few, ...larger] = Object.keys(byNodes);
  const fleets = await compareCells(bench, byNodes);
  for (const name of larger) {
    const most = byNodes[name].nodes === nodes.most ? { p50: 1.3 } : {};
    const cellName = `${name}, ${sizes.some} queued, ${base.signatures} signatures`;
    figure(bench, cellName, fleets[name], { over: fleets[few], overName: few, most });
  }

  const bySignatures = Object.fromEntries(
    Object.values(signatures).map((count) => [
      `${count} signatures`,
      { ...base, signatures: count, queued: sizes.most },
    ]),
  );
  const [one, ...others] = Object.keys(bySignatures);
  const kinds = await compareCells(bench, bySignatures);
  for (const name of others) {
    figure(bench, `${name}, ${sizes.most} queued, ${base.nodes} nodes`, kinds[name], {
      over: kinds[one],
      overName: one,
    });
  }

  const worst = { nodes: nodes.most, queued: sizes.most, signatures: signatures.most };
  const corner = {
    'nothing waits': { ...worst, queued: 0 },
    'the worst corner': worst,
    'the worst corner, all touch the freed node': { ...worst, touching: 1 },
  };
  const corners = await compareCells(bench, corner);
  const [easy, ...hard] = Object.keys(corner);
  for (const name of hard) {
    const cellName = `${name}: ${worst.queued} queued, ${worst.nodes} nodes, ${worst.signatures} signatures`;
    figure(bench, cellName, corners[name], { over: corners[easy], overName: easy });
  }
}

/** The times of each cell, round by round; with those of the bare statements in the named one. Most samples where asked. */
async function compareCells(bench, cells, { bareIn, asked = [] } = {}) {
  const make = {};
  for (const [name, wanted] of Object.entries(cells)) {
    const template = await cell(bench.databases, wanted);
    bench.say(`${name} is filled`);
    make[name] = () => playground(bench, template, 'release', { player: 'release' });
    if (name === bareIn) {
      make.bare = () => playground(bench, template, 'bare', { player: 'bare-release', mediator: false });
    }
  }
  return withAll(make, async (made) => {
    const samples = (name) => (asked.includes(name) ? bench.samples : bench.fewSamples);
    const side = ([name, one]) => [name, () => one.ask('releases', samples(name), LONGEST_SLICE)];
    const sides = Object.fromEntries(Object.entries(made).map(side));
    for (const one of Object.values(made)) await one.ask('releases', bench.fewSamples, LONGEST_SLICE / 4);
    return bench.alternate(sides);
  });
}

function figure(bench, name, times, { over, overName, most = {}, samples = bench.fewSamples }) {
  const short = Math.min(...times.map((slice) => slice.length));
  const note = short < samples ? `a slice took too long and ended after ${short} releases` : undefined;
  for (const [title, share] of [
    ['p50', 0.5],
    ['p99', 0.99],
  ]) {
    const at = (results) => results.map((slice) => percentile(slice, share));
    const given = { name: `${title}, ${name}`, unit: 'ms', of: at(times), over: at(over), overName };
    bench.figure({ ...given, ...(most[title] && { most: most[title] }), note: title === 'p50' ? note : undefined });
  }
}
