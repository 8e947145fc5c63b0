import { randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { R, step } from '../support/contracts.js';
import { createDatabase, type TestDatabase } from '../support/database.js';
import { type Send, sender } from '../support/http.js';
import { type PlayedClaim, PlayedNode } from '../support/played-node.js';
import { spawnServer, type SpawnedServer } from '../support/spawned-server.js';
import { upload, writeLog } from '../support/uploads.js';

const MIB = 1024 * 1024;
const MOST_GROWTH = 100 * MIB;
/** The text of one, its value, and what of the one before has not been collected yet. */
const MOST_GROWTH_JUDGED = 200 * MIB;

describe('the memory of the server under uploads', () => {
  let database: TestDatabase;
  let spawned: SpawnedServer;
  let url: string;
  let send: Send;
  let node: PlayedNode;
  beforeAll(async () => {
    database = await createDatabase();
    spawned = spawnServer({ DATABASE_URL: database.url, MEDIATOR_RENEW_SECONDS: '3600' });
    url = await spawned.url();
    send = sender(url);
    node = new PlayedNode(send, 'n1', [{ role: 'x' }]);
    await node.advertise();
  }, 30_000);
  afterEach(async () => {
    expect(await database.sql('SELECT * FROM invariants')).toEqual([]);
  });
  afterAll(async () => {
    expect(await spawned.stop()).toBe(0);
    await database.drop();
  });

  const claim = async (runId: string, more: Record<string, unknown> = {}): Promise<PlayedClaim> => {
    await send('POST', '/v1/runs', { body: R('x', { run_id: runId, steps: [step('only', 'x', more)] }) });
    return (await node.claim()).body;
  };
  const memory = async (line: string): Promise<number> => {
    const status = await readFile(`/proc/${spawned.child.pid}/status`, 'utf8');
    return Number(new RegExp(`^${line}:\\s+(\\d+) kB$`, 'm').exec(status)![1]) * 1024;
  };
  /** By how much the process grows, at its widest moment, while this is done. */
  const growth = async (act: () => Promise<void>): Promise<number> => {
    // 5: the peak is counted anew from here.
    await writeFile(`/proc/${spawned.child.pid}/clear_refs`, '5');
    const before = await memory('VmRSS');
    await act();
    return (await memory('VmHWM')) - before;
  };

  it('ten outputs of the largest size at once let it grow by less than 100 MiB', async () => {
    const held = await claim('outputs');
    const bodies = Array.from({ length: 10 }, () => randomBytes(10 * MIB));
    const grown = await growth(async () => {
      const answers = await Promise.all(bodies.map((body, index) => upload({ url }, held, `out-${index}`, body)));
      expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(204));
    });
    expect(grown).toBeLessThan(MOST_GROWTH);
    const [stored] = await database.sql<{ bytes: string }>('SELECT sum(length(bytes)) AS bytes FROM blob_chunks');
    expect(Number(stored!.bytes)).toBe(100 * MIB);
    await node.report(held);
  }, 60_000);

  it('and ten of them that have a schema, one after the other', async () => {
    const names = Array.from({ length: 10 }, (_, index) => `out-${index}`);
    const schema = Object.fromEntries(names.map((name) => [name, { type: 'array', items: { type: 'string' } }]));
    const held = await claim('judged', { out: names, schema });
    const body = JSON.stringify(Array.from({ length: 10_000 }, () => 'x'.repeat(1000)));
    const grown = await growth(async () => {
      const answers = await Promise.all(names.map((name) => upload({ url }, held, name, body)));
      expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(204));
    });
    expect(grown).toBeLessThan(MOST_GROWTH_JUDGED);
    await node.report(held);
  }, 60_000);

  it('and ten logs', async () => {
    const held = await claim('logs');
    const body = 'a line of a log\n'.repeat((10 * MIB) / 16);
    const grown = await growth(async () => {
      const writes = Array.from({ length: 10 }, (_, index) => writeLog({ url }, held, body, `name=log-${index}`));
      expect((await Promise.all(writes)).map(({ status }) => status)).toEqual(Array(10).fill(204));
    });
    expect(grown).toBeLessThan(MOST_GROWTH);
    await node.report(held);
  }, 60_000);
});
