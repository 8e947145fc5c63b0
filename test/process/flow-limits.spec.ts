import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { needs, step } from '../support/contracts.js';
import { createDatabase, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { type Send, sender } from '../support/http.js';
import { besideNeighbour, expectUndisturbed } from '../support/neighbour.js';
import { PlayedNode } from '../support/played-node.js';
import { type SpawnedServer, spawnServer } from '../support/spawned-server.js';
import { blobPath, openUpload, upload } from '../support/uploads.js';

const CLAIMS = 3000;
const BATCH = 50;
const RUN_BYTES = 64 * 1024 * 1024;

describe('what one caller sends does not stop the others', () => {
  let database: TestDatabase;
  let server: SpawnedServer;
  let url: string;
  let send: Send;
  beforeAll(async () => {
    database = await createDatabase();
    const env = { DATABASE_URL: database.url, MEDIATOR_MAX_RUN_BYTES: String(RUN_BYTES) };
    server = spawnServer(env);
    url = await server.url();
    send = sender(url);
    await node('neighbour').advertise();
  });
  afterAll(async () => {
    expect(await database.sql('SELECT * FROM invariants')).toEqual([]);
    await server.stop();
    await database.drop();
  });

  const node = (name: string): PlayedNode => new PlayedNode(send, name, [{ role: name }]);
  const submit = async (run_id: string, steps: object[], ...roles: string[]): Promise<void> => {
    const body = { run_id, requires: roles.map((role) => needs(role)), steps };
    expect((await send('POST', '/v1/runs', { body })).status).toBe(201);
  };

  /** A run whose second step, on the second node, is made ready by the report of the first. */
  const pair = async (name: string, instance?: string) => {
    const [first, second] = [node(`${name}-x`), node(`${name}-y`)];
    second.instance = instance;
    for (const one of [first, second]) await one.advertise();
    await submit(name, [step('one', first.nodeId), step('two', second.nodeId)], first.nodeId, second.nodeId);
    const claim = (await first.claim()).body;
    return { second, makeReady: () => first.report(claim) };
  };
  type Answers = { status: number; body: any }[];
  /** Sends claims fifty at a time, the next when only so many of those before still wait. */
  const park = async (
    waiting: number,
    answers: Answers,
    claim: (index: number) => Promise<Answers[number]>,
  ): Promise<void> => {
    const failed: unknown[] = [];
    for (let sent = 0; sent < CLAIMS; sent += BATCH) {
      for (let index = sent; index < sent + BATCH; index++) {
        claim(index).then(
          (answer) => answers.push(answer),
          (error: unknown) => failed.push(error),
        );
      }
      const over = Math.max(0, sent + BATCH - waiting);
      await eventually('all but those that wait are answered', () => answers.length === over, 20);
    }
    expect(failed).toEqual([]);
  };

  it.each([
    ['one instance', 'boot-1', () => 'boot-1', 1],
    ['no instance', undefined, () => undefined, 64],
    ['as many instances, of a node that names none', undefined, (index: number) => `made-up-${index}`, 64],
  ])(
    'L4: of 3,000 claims of %s a few wait; one is given the step, once',
    async (_, advertised, instanceOf, waiting) => {
      const name = `claims-${waiting}-${instanceOf(0) ?? 'none'}`;
      const { second, makeReady } = await pair(name, advertised);
      const answers: Answers = [];
      const seen = await besideNeighbour(url, async () => {
        await park(waiting, answers, (index) => {
          const claimant = node(second.nodeId);
          claimant.instance = instanceOf(index);
          return claimant.claim(60);
        });
        expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([204]));
        await makeReady();
        await eventually('one has the step', () => answers.length > CLAIMS - waiting, 5);
      });
      expect(answers.filter(({ status }) => status !== 204)).toMatchObject([
        { status: 200, body: { run_id: name, seq: 2 } },
      ]);
      expectUndisturbed(seen);
      await send('POST', `/v1/runs/${name}/cancel`);
      // Those that still wait hear of their end.
      for (let index = 0; index < waiting; index++) void node(second.nodeId).claim(0);
    },
  );

  it('L5: the same claim repeated 200 times: one event, and nothing else written', async () => {
    const n1 = node('again');
    n1.instance = 'boot-1';
    await n1.advertise();
    await submit('again', [step('only', 'again')], 'again');
    expect((await n1.claim()).status).toBe(200);
    const written = async (): Promise<object[]> =>
      database.sql("SELECT xmin, version FROM runs WHERE run_id = 'again'");
    const before = await written();
    const seen = await besideNeighbour(url, async () => {
      for (let batch = 0; batch < 10; batch++) {
        const answers = await Promise.all(Array.from({ length: 20 }, () => n1.claim()));
        for (const { status, body } of answers) expect([status, body.seq, body.attempt]).toEqual([200, 1, 1]);
      }
    });
    expectUndisturbed(seen);
    expect(await database.sql("SELECT kind FROM events WHERE run_id = 'again' AND kind LIKE 'step%'")).toEqual([
      { kind: 'step_claimed' },
    ]);
    expect(await written()).toEqual(before);
    await send('POST', '/v1/runs/again/cancel');
  });

  it('L7: refused requests that go on sending have their connections closed within 6 s', async () => {
    const heads = ['POST /v1/nothing', 'POST /v1/runs', 'PUT /v1/runs/none/steps/1/blobs/out', 'GET /livez'];
    const flood = (head: string): Promise<number> =>
      new Promise((resolve) => {
        const since = performance.now();
        const more = 'Host: localhost\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked';
        const bytes = Buffer.alloc(65_536, 'x');
        const piece = Buffer.concat([Buffer.from('10000\r\n'), bytes, Buffer.from('\r\n')]);
        const socket: Socket = connect({ port: Number(new URL(url).port), host: '127.0.0.1', allowHalfOpen: true });
        const pump = (): void => {
          while (!socket.destroyed && socket.write(piece));
        };
        socket.on('drain', pump).on('error', () => undefined);
        socket.on('close', () => resolve(performance.now() - since)).resume();
        socket.write(`${head} HTTP/1.1\r\n${more}\r\n\r\n`, pump);
      });
    let took: number[] = [];
    const seen = await besideNeighbour(url, async () => {
      took = await Promise.all(heads.map(flood));
    });
    expect(Math.max(...took)).toBeLessThan(6000);
    expectUndisturbed(seen);
  });

  it('L8: 60 undeclared outputs of 10 MiB from one step: what a run may store, and no more', async () => {
    const n1 = node('wide');
    await n1.advertise();
    await submit('wide', [step('only', 'wide')], 'wide');
    const claim = (await n1.claim()).body;
    const large = Buffer.alloc(10 * 1024 * 1024);
    const statuses: number[] = [];
    const seen = await besideNeighbour(url, async () => {
      for (let index = 0; index < 60; index += 4) {
        const four = [0, 1, 2, 3].map((more) => upload({ url }, claim, `out-${index + more}`, large));
        statuses.push(...(await Promise.all(four)).map(({ status }) => status));
      }
    });
    expect(statuses.filter((status) => status === 204)).toHaveLength(6);
    expect(statuses.filter((status) => status === 413)).toHaveLength(54);
    expect(await database.sql("SELECT bytes::int FROM run_bytes WHERE run_id = 'wide'")).toEqual([
      { bytes: 6 * large.length },
    ]);
    expectUndisturbed(seen);
    await send('POST', '/v1/runs/wide/cancel');
  });

  it('L9: the run of an upload is cancelled while it streams: the connection ends within 2 s', async () => {
    const n1 = node('stream');
    await n1.advertise();
    await submit('stream', [step('only', 'stream')], 'stream');
    const claim = (await n1.claim()).body;
    let took = Infinity;
    const seen = await besideNeighbour(url, async () => {
      const open = openUpload(url + blobPath(claim, 'out'), { 'mediator-lease': claim.lease.nonce });
      open.send(Buffer.alloc(300_000));
      await eventually(
        'a chunk is stored',
        async () => (await database.sql('SELECT FROM blobs WHERE published_at IS NULL')).length > 0,
      );
      await send('POST', '/v1/runs/stream/cancel');
      const since = performance.now();
      expect(await open.answer).toMatchObject({ status: 410, code: 'run_over' });
      await eventually('the connection is closed', async () => {
        open.send(Buffer.alloc(1000));
        return Promise.race([open.closed.then(() => true), send('GET', '/livez').then(() => false)]);
      });
      took = performance.now() - since;
    });
    expect(took).toBeLessThan(2000);
    expect(await database.sql('SELECT FROM blobs WHERE published_at IS NULL')).toEqual([]);
    expectUndisturbed(seen);
  });
});
