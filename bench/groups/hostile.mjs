/*
 * How somebody else fares while one careless or hostile caller does their worst: the slowest /livez and the slowest
 * submission meanwhile. Each attack meets a fresh database and a fresh server.
 */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { fleet } from '../fill/cells.mjs';
import { ATTACKS } from '../load/attacks.mjs';
import { playground } from '../parts/playground.mjs';

const NEIGHBOUR = new URL('../../test/support/neighbour-thread.mjs', import.meta.url);
/** What a full house of finished runs is; the others meet a small one. */
const FINISHED = { '/metrics by 40 loops, 200,000 runs over': 200_000 };
const NODES = 34;
const MOST_MS = { livez: 300, submit: 1000 };

export async function measure(bench) {
  for (const [name, attack] of Object.entries(ATTACKS)) {
    const template = await fleet(bench.databases, NODES, bench.scaled(FINISHED[name] ?? 1000, 1000));
    const play = await playground(bench, template, 'hostile');
    try {
      const { seen, note } = await beside(play.url, () => attack(play.url));
      const refused = Object.entries(seen.submit.statuses).filter(([status]) => !/^20[12]$/.test(status));
      const others = refused.map(([status, times]) => `, ${times} × ${status} to others`).join('');
      bench.figure({
        name: `${name}: slowest /livez`,
        unit: 'ms',
        of: [seen.livez.worstMs],
        most: MOST_MS.livez,
        note: `${note}${others}`,
      });
      bench.figure({
        name: `${name}: slowest submission of another`,
        unit: 'ms',
        of: [seen.submit.worstMs],
        most: MOST_MS.submit,
      });
      bench.say(`${name}: ${note}${others}`);
    } finally {
      await play.close();
    }
  }
}

/** Does it while somebody else, in a thread of their own, asks /livez and submits; gives what both have seen. */
async function beside(url, attack) {
  const neighbour = new Worker(NEIGHBOUR, { workerData: { url, headers: {}, role: 'neighbour' } });
  try {
    await fetch(`${url}/v1/nodes`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        node_id: 'neighbour',
        capabilities: [{ capability: 'board', attrs: { role: 'neighbour' } }],
      }),
    });
    await once(neighbour, 'message');
    const note = await attack();
    neighbour.postMessage('stop');
    const [seen] = await once(neighbour, 'message');
    return { seen, note };
  } finally {
    await neighbour.terminate();
  }
}
