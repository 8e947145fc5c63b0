/*
 * The queue as it is shown while it is deep: its first page, its last one, and a run at its end with its place and how many
 * stand before it for the same nodes. Both numbers are compared with what was filled.
 */
import { cell } from '../fill/cells.mjs';
import { blockedKinds } from '../fill/kinds.mjs';
import { runName } from '../fill/runs.mjs';
import { percentile } from '../parts/figures.mjs';
import { playground, withAll } from '../parts/playground.mjs';
import { toCursor } from '../../dist/src/platform/http/cursor.js';

const MOST_MS = 50;

export async function measure(bench) {
  const depth = { queued: bench.scaled(100_000, 1000), signatures: bench.scaled(100, 10) };
  const most = bench.scaled(10_000, 100);
  await withCell(bench, { ...depth, nodes: bench.scaled(1000, 40) });
  await withCell(bench, { ...depth, nodes: most });
  await withCell(bench, { ...depth, nodes: most, signatures: bench.scaled(10_000, 50) });
}

async function withCell(bench, wanted) {
  const { queued, nodes, signatures } = wanted;
  const template = await cell(bench.databases, wanted);
  await withAll({ play: () => playground(bench, template, 'queue', { player: 'requests' }) }, async ({ play }) => {
    const last = runName('blocked-', queued - 1);
    await expectPlace(play, wanted, queued - 1);
    await expectPlace(play, wanted, Math.floor(queued / 2));
    const pages = {
      'GET /v1/queue': '/v1/queue',
      'GET /v1/queue, 200 runs': '/v1/queue?limit=200',
      'GET /v1/queue, the last 50': `/v1/queue?cursor=${await cursorBefore(play.database, 50)}`,
      'GET /v1/runs/{the last in the queue}': `/v1/runs/${last}`,
    };
    const ask = (path, count) => play.ask('repeat', { path, count });
    for (const path of Object.values(pages)) await ask(path, Math.ceil(bench.samples / 20));
    const count = Math.ceil(bench.samples / 5);
    const sides = Object.fromEntries(Object.entries(pages).map(([name, path]) => [name, () => ask(path, count)]));
    const results = await bench.alternate(sides);
    for (const name of Object.keys(pages)) {
      const at = (share) => results[name].map(({ times }) => percentile(times, share));
      const told = `${name}, ${queued} queued, ${nodes} nodes, ${signatures} signatures`;
      bench.figure({ name: `p50, ${told}`, unit: 'ms', of: at(0.5), most: MOST_MS });
      bench.figure({ name: `p99, ${told}`, unit: 'ms', of: at(0.99) });
    }
  });
}

/** Whoever wants the same sort of node stands before it, and nobody else. */
async function expectPlace(play, { queued, signatures, touching = 0.1 }, index) {
  const sorts = blockedKinds(Math.min(signatures, queued), touching).map(({ requires }) => requires[0].capability);
  const sort = (at) => sorts[at % sorts.length];
  const ahead = Array.from({ length: index }, (_, at) => sort(at)).filter((one) => one === sort(index)).length;
  const { waiting } = await play.ask('get', `/v1/runs/${runName('blocked-', index)}`);
  if (waiting.position === index + 1 && waiting.ahead === ahead) return;
  throw new Error(`run ${index} is at ${waiting.position} with ${waiting.ahead} ahead, not ${index + 1} and ${ahead}`);
}

async function cursorBefore({ connect }, count) {
  const client = await connect();
  const { rows } = await client.query(
    `SELECT (created_at AT TIME ZONE 'UTC')::text || '+00' AS created_at, seq::text FROM runs WHERE state = 'QUEUED'
      ORDER BY created_at DESC, seq DESC OFFSET $1 LIMIT 1`,
    [count],
  );
  await client.end();
  return toCursor(rows[0]);
}
