/*
 * What a sweep reads when a node is freed before a deep queue: the rows of every plan, as executed, from the first statement
 * of the wake to its last; and how often a contract is among them. What a heartbeat that changes nothing sends between
 * BEGIN and COMMIT. Nothing here is a time.
 */
import { cell } from '../fill/cells.mjs';
import { NEXT_IN_LINE } from '../fill/kinds.mjs';
import { boardName, HOT } from '../fill/nodes.mjs';
import { endRuns, fillRuns } from '../fill/runs.mjs';
import { playground, withAll } from '../parts/playground.mjs';
import { Program } from '../parts/program.mjs';
import { explainEverything, Watched } from '../parts/watched.mjs';

const ALLOWANCE = 50;

export async function measure(bench) {
  const wanted = {
    nodes: bench.scaled(1000, 40),
    queued: bench.scaled(100_000, 1000),
    signatures: bench.scaled(100, 10),
  };
  const template = await cell(bench.databases, wanted);
  await withAll({ play: () => playground(bench, template, 'reads', { mediator: false }) }, async ({ play }) => {
    const { database } = play;
    const client = await database.connect();
    await explainEverything(client, database.name);
    const watched = Watched.begin();
    const program = await Program.start(database.url);
    try {
      await measureSweep(bench, client, program, watched, wanted);
      await measureHeartbeat(bench, client, program, watched);
    } finally {
      await program.stop();
      watched.end();
      await client.end();
    }
  });
}

async function measureSweep(bench, client, program, watched, { nodes, queued, signatures }) {
  const [reads, contracts, promoted] = [[], [], []];
  await endRuns(client, 'hot-0');
  for (let round = 0; round < bench.rounds; round++) {
    const prefix = `next-${round}-`;
    await fillRuns(client, { state: 'queued', kinds: [NEXT_IN_LINE], prefix, count: 1, age: 0 });
    watched.take();
    await program.wake();
    const { plans } = watched.take();
    if (plans.length === 0) throw new Error('auto_explain has sent no plan');
    const { rows } = await client.query('SELECT run_id FROM leases WHERE node_id = $1', [HOT]);
    promoted.push(rows.length);
    reads.push(plans.reduce((sum, plan) => sum + plan.rows, 0));
    contracts.push(plans.filter(({ text }) => /\bcontract\b/.test(text)).reduce((sum, plan) => sum + plan.rows, 0));
    for (const plan of plans) bench.say(`${plan.rows} rows: ${plan.text.trim().split('\n')[0].slice(0, 80)}`);
    await endRuns(client, prefix);
  }
  if (promoted.some((count) => count !== 1))
    throw new Error(`the sweeps promoted ${promoted.join(', ')} instead of 1 each`);
  // The signatures of those that wait, and that of the one that goes.
  const most = signatures + 1 + promoted[0] + nodes + ALLOWANCE;
  const told = `${queued} queued, ${nodes} nodes, ${signatures} signatures`;
  const over = reads.map(() => most);
  const overName = `signatures + promotions + nodes + ${ALLOWANCE}`;
  bench.figure({
    name: `rows read by a sweep that promotes one, ${told}`,
    unit: 'rows',
    of: reads,
    over,
    overName,
    most: 1,
  });
  const unread = `rows read by statements that name a contract, ${told}`;
  bench.figure({
    name: unread,
    unit: 'rows',
    of: contracts,
    most: 0,
  });
}

async function measureHeartbeat(bench, client, program, watched) {
  const { rows } = await client.query('SELECT node_id, label, capabilities FROM nodes WHERE node_id = ANY ($1)', [
    [boardName(0), HOT],
  ]);
  for (const advert of rows) {
    const [inside, sweeps] = [[], []];
    for (let round = 0; round <= bench.rounds; round++) {
      watched.take();
      const before = await sweepsSoFar(program);
      const body = JSON.stringify({ ...advert, instance: 'bench' });
      const headers = { 'content-type': 'application/json' };
      const answer = await fetch(`${program.url}/v1/nodes`, { method: 'POST', headers, body });
      if (answer.status !== 200) throw new Error(`an advert was answered with ${answer.status}`);
      await answer.arrayBuffer();
      const { statements } = watched.take();
      // The first names its instance for the first time: that changes something.
      if (round === 0) continue;
      inside.push(statements.filter(({ inTransaction }) => inTransaction).length);
      sweeps.push((await sweepsSoFar(program)) - before);
    }
    const who = `a heartbeat that changes nothing, of a ${advert.node_id === HOT ? 'free' : 'leased'} node`;
    bench.figure({ name: `statements between BEGIN and COMMIT, ${who}`, unit: '', of: inside, most: 3 });
    bench.figure({ name: `sweeps, ${who}`, unit: '', of: sweeps, most: 0 });
  }
}

async function sweepsSoFar(program) {
  const text = await (await fetch(`${program.url}/metrics`)).text();
  return [...text.matchAll(/^mediator_sweeps_total\{[^}]*\} (\d+)/gm)].reduce(
    (sum, [, count]) => sum + Number(count),
    0,
  );
}
