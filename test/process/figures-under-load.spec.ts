import { once } from 'node:events';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { R } from '../support/contracts.js';
import { createDatabase, type TestDatabase } from '../support/database.js';
import { type Send, sender } from '../support/http.js';
import { besideNeighbour, expectUndisturbed } from '../support/neighbour.js';
import { PlayedNode } from '../support/played-node.js';
import { spawnServer, type SpawnedServer } from '../support/spawned-server.js';

// To put 200,000 runs there takes some seconds.
jest.setTimeout(120_000);

const OVER = 200_000;

describe('figures that everybody may ask for', () => {
  let database: TestDatabase;
  let server: SpawnedServer;
  let url: string;
  let send: Send;
  let node: PlayedNode;
  beforeAll(async () => {
    database = await createDatabase();
    server = spawnServer({ DATABASE_URL: database.url, MEDIATOR_RENEW_SECONDS: '3600' });
    url = await server.url();
    send = sender(url);
    node = new PlayedNode(send, 'l6', [{ role: 'l6' }, { role: 'neighbour' }]);
    await node.advertise();
    await send('POST', '/v1/runs', { body: R('l6', { run_id: 'l6' }) });
    await node.work();
    await fill();
  });
  afterAll(async () => {
    expect(await database.sql('SELECT * FROM invariants LIMIT 1')).toEqual([]);
    expect(await server.stop()).toBe(0);
    await database.drop();
  });

  /** Copies of the run that is over, with their records. */
  async function fill(): Promise<void> {
    const columns = async (table: string): Promise<string> => {
      const rows = await database.sql<{ names: string }>(
        `SELECT string_agg(column_name, ', ') AS names FROM information_schema.columns
          WHERE table_schema = 'public' AND table_name = $1 AND column_name NOT IN ('run_id', 'seq')`,
        [table],
      );
      return rows[0]!.names;
    };
    for (const table of ['runs', 'records']) {
      const names = await columns(table);
      await database.sql(
        `INSERT INTO ${table} (run_id, ${names})
         SELECT 'l6-' || n, ${names} FROM ${table}, generate_series(1, ${OVER - 1}) AS n WHERE run_id = 'l6'`,
      );
    }
    await database.sql('VACUUM ANALYZE runs');
  }

  /** The median of many, in milliseconds: what a read and a heartbeat take, one after the other. */
  async function medians(): Promise<{ read: number; heartbeat: number }> {
    const took = { read: [] as number[], heartbeat: [] as number[] };
    for (let n = 0; n < 150; n++) {
      for (const [what, ask] of [
        ['read', () => send('GET', '/v1/runs/l6')],
        ['heartbeat', () => node.advertise()],
      ] as const) {
        const since = performance.now();
        expect((await ask()).status).toBe(200);
        took[what].push(performance.now() - since);
      }
    }
    const median = (all: number[]): number => all.sort((a, b) => a - b)[all.length >> 1]!;
    return { read: median(took.read), heartbeat: median(took.heartbeat) };
  }

  async function underLoad<T>(act: () => Promise<T>): Promise<T> {
    const workerData = { url, path: '/metrics', loops: 40, pauseMs: 200 };
    const scrapers = new Worker(join(process.cwd(), 'test/support/scrapers.mjs'), { workerData });
    try {
      await once(scrapers, 'message');
      return await act();
    } finally {
      await scrapers.terminate();
    }
  }

  it('L6: /metrics by 40 loops with 200,000 runs over: reads and heartbeats take at most twice as long', async () => {
    await medians();
    const without = await medians();
    const beside = await underLoad(medians);
    expect(beside.read).toBeLessThanOrEqual(2 * without.read);
    expect(beside.heartbeat).toBeLessThanOrEqual(2 * without.heartbeat);
  });

  it('L6: meanwhile /livez and a submission of somebody else are answered in time, and the figures are right', async () => {
    const seen = await besideNeighbour(url, () => underLoad(medians));
    expectUndisturbed(seen);
    expect((await send<string>('GET', '/metrics')).body).toContain(`\nmediator_runs{state="SUCCEEDED"} ${OVER}\n`);
  });
});
