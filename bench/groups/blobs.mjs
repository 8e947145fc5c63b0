/*
 * An output of 10 MiB up and down through the Mediator, over a bare Fastify handler that writes and reads the same chunks
 * with `pg`: one process, one database, one caller in a thread of its own.
 */
import { request } from 'node:http';
import { Readable } from 'node:stream';
import { isMainThread, parentPort, Worker } from 'node:worker_threads';
import { fleet } from '../fill/cells.mjs';
import { median } from '../parts/figures.mjs';
import { playground, withAll } from '../parts/playground.mjs';
import { Program } from '../parts/program.mjs';

const BYTES = 10 * 1024 * 1024;
const MIB = BYTES / 1024 / 1024;
const CHUNK = 256 * 1024;
/** In each round: what a slice is for something so large. */
const BODIES = 5;

if (!isMainThread) playCaller();

export async function measure(bench) {
  const template = await fleet(bench.databases, bench.scaled(1000, 34));
  await withAll({ play: () => playground(bench, template, 'blobs', { mediator: false }) }, async ({ play }) => {
    const program = await Program.start(play.database.url);
    const bare = await startBare(play.database.url);
    const caller = new Worker(new URL(import.meta.url));
    try {
      await upAndDown(bench, program, bare, caller);
    } finally {
      await caller.terminate();
      await bare.close();
      await program.stop();
    }
  });
}

async function upAndDown(bench, program, bare, caller) {
  const call = (method, url, headers = {}) =>
    new Promise((resolve, reject) => {
      caller.once('message', ({ ms, error }) => (error ? reject(new Error(error)) : resolve(ms)));
      caller.postMessage({ method, url, headers });
    });
  const { run_id, headers } = await claimStep(program.url);
  let index = 0;
  await compare(bench, 'up', {
    mediator: () => call('PUT', `${program.url}/v1/runs/${run_id}/steps/1/blobs/out-${index++}`, headers),
    bare: () => call('PUT', `${bare.url}/out-${index++}`),
  });
  // The first of each side: both took turns from the first on.
  const down = `${program.url}/v1/runs/${run_id}/blobs/out-0`;
  const size = (await (await fetch(down)).arrayBuffer()).byteLength;
  if (size !== BYTES) throw new Error(`${size} bytes came back`);
  await compare(bench, 'down', {
    mediator: () => call('GET', down),
    bare: () => call('GET', `${bare.url}/out-${BODIES}`),
  });
}

async function compare(bench, what, sides) {
  const slice = (send) => async () => {
    const times = [];
    while (times.length < BODIES) times.push(await send());
    return (MIB / median(times)) * 1000;
  };
  const slices = { mediator: slice(sides.mediator), bare: slice(sides.bare) };
  for (const warm of Object.values(slices)) await warm();
  const { mediator: of, bare: over } = await bench.alternate(slices);
  const name = `an output of ${MIB} MiB ${what}`;
  bench.figure({ name, unit: 'MiB/s', of, over, overName: 'bare Fastify and pg', least: 0.5 });
}

/** A node and a run of one step, claimed. */
async function claimStep(url) {
  const post = async (path, body) => {
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
    const response = await fetch(url + path, init);
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return response.json();
  };
  await post('/v1/nodes', { node_id: 'n1', capabilities: [{ capability: 'store' }] });
  const requires = [{ as: 'board', capability: 'store' }];
  await post('/v1/runs', { requires, steps: [{ id: 'only', uses: 'board', run: ['true'] }] });
  const { run_id, lease } = await post('/v1/nodes/n1/claim', {});
  return { run_id, headers: { 'mediator-lease': lease.nonce } };
}

/** What somebody would write who only wants to keep bytes: no fence, no sum, no transaction around them. */
async function startBare(databaseUrl) {
  const { default: fastify } = await import('fastify');
  const { default: pg } = await import('pg');
  const pool = new pg.Pool({ connectionString: databaseUrl, max: 10 });
  await pool.query('CREATE TABLE bare_chunks (name text, at bigint, bytes bytea, PRIMARY KEY (name, at))');
  await pool.query('ALTER TABLE bare_chunks ALTER COLUMN bytes SET STORAGE EXTERNAL');
  const app = fastify();
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, payload, done) => done(null, payload));
  app.put('/:name', async ({ params, body }, reply) => {
    let [pieces, held, at] = [[], 0, 0];
    const write = async () => {
      const bytes = Buffer.concat(pieces);
      [pieces, held] = [[], 0];
      await pool.query('INSERT INTO bare_chunks VALUES ($1, $2, $3)', [params.name, at, bytes]);
      at += bytes.length;
    };
    for await (const piece of body) {
      pieces.push(piece);
      held += piece.length;
      if (held >= CHUNK) await write();
    }
    if (held > 0) await write();
    return reply.status(204).send();
  });
  app.get('/:name', (request, reply) => {
    async function* chunks() {
      for (let at = 0; ;) {
        const text = 'SELECT bytes FROM bare_chunks WHERE name = $1 AND at = $2';
        const { rows } = await pool.query(text, [request.params.name, at]);
        if (rows.length === 0) return;
        yield rows[0].bytes;
        at += rows[0].bytes.length;
      }
    }
    return reply.type('application/octet-stream').send(Readable.from(chunks()));
  });
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  return { url, close: () => app.close().then(() => pool.end()) };
}

/** Sends and receives bytes, and says how long it took. */
function playCaller() {
  const body = Buffer.alloc(BYTES, 'the bytes of an image ');
  parentPort.on('message', ({ method, url, headers }) => {
    const began = performance.now();
    const length = method === 'PUT' ? { 'content-length': BYTES } : {};
    const sent = request(url, { method, headers: { ...headers, ...length } }, (response) => {
      response.resume();
      response.once('end', () => {
        const error = response.statusCode < 300 ? undefined : `${method} ${url}: ${response.statusCode}`;
        parentPort.postMessage({ ms: performance.now() - began, error });
      });
    });
    sent.once('error', (error) => parentPort.postMessage({ error: error.message }));
    sent.end(method === 'PUT' ? body : undefined);
  });
}
