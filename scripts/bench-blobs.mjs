/*
 * An output of 10 MiB up and down through the Mediator, against a bare Fastify handler that writes and reads the same
 * chunks with `pg`: one process, one database (fsync on), one caller in a thread of its own, in alternating rounds.
 * Ratio: the median of the bare handler over the Mediator's; at least 0.5 is wanted. `npm run bench -- blobs [rounds]`.
 */
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { isMainThread, parentPort, Worker } from 'node:worker_threads';

const BYTES = 10 * 1024 * 1024;
const CHUNK = 256 * 1024;
const BAR = 0.5;
const WARM_UP = 3;

if (isMainThread) await main(Number(process.argv[2] ?? 25));
else playCaller();

async function main(rounds) {
  const { startEmbedded } = await import('../dist/src/platform/embedded/start-embedded.js');
  const { readConfig } = await import('../dist/src/platform/config/read-config.js');
  const { startMediator } = await import('../dist/src/start-mediator.js');
  const dataDir = await mkdtemp(join(tmpdir(), 'mediator-bench-'));
  // As root the database runs as somebody else, who has to reach the folder.
  await chmod(dataDir, 0o755);
  const postgres = await startEmbedded({ dataDir });
  const config = readConfig({ DATABASE_URL: postgres.url, PORT: '0', LOG_LEVEL: 'warn' });
  const mediator = await startMediator(config);
  const bare = await startBare(postgres.url);
  const caller = new Worker(new URL(import.meta.url));
  try {
    const { run_id, headers } = await claimStep(mediator.url);
    const call = (method, url, more = {}) =>
      new Promise((resolve, reject) => {
        caller.once('message', ({ ms, error }) => (error ? reject(new Error(error)) : resolve(ms)));
        caller.postMessage({ method, url, headers: more });
      });
    await compare('up', rounds, {
      mediator: (round) => call('PUT', `${mediator.url}/v1/runs/${run_id}/steps/1/blobs/out-${round}`, headers),
      bare: (round) => call('PUT', `${bare.url}/out-${round}`),
    });
    const down = `${mediator.url}/v1/runs/${run_id}/blobs/out-0`;
    const probe = await fetch(down);
    const size = (await probe.arrayBuffer()).byteLength;
    if (probe.status !== 200) return process.stdout.write(`down: not served yet (${probe.status})\n`);
    if (size !== BYTES) throw new Error(`${size} bytes came back`);
    await compare('down', rounds, {
      mediator: () => call('GET', down),
      bare: () => call('GET', `${bare.url}/out-0`),
    });
  } finally {
    await caller.terminate();
    await bare.close();
    await mediator.stop();
    await postgres.stop();
    await rm(dataDir, { recursive: true, force: true });
  }
}

async function compare(what, rounds, sides) {
  const times = { mediator: [], bare: [] };
  for (let round = -WARM_UP; round < rounds; round++) {
    // Whoever comes second in a round finds the caches warm: they take turns.
    const order = round % 2 === 0 ? ['mediator', 'bare'] : ['bare', 'mediator'];
    for (const side of order) {
      const ms = await sides[side](Math.abs(round) === round ? round : `warm${-round}`);
      if (round >= 0) times[side].push(ms);
    }
  }
  const [own, other] = [median(times.mediator), median(times.bare)];
  const ratio = other / own;
  const speed = (ms) => `${ms.toFixed(1)} ms (${((BYTES / 1024 / 1024 / ms) * 1000).toFixed(0)} MiB/s)`;
  process.stdout.write(
    `${what}: Mediator ${speed(own)}, bare ${speed(other)}, ratio ${ratio.toFixed(2)} (${rounds} rounds)\n`,
  );
  if (ratio < BAR) process.exitCode = 1;
}

function median(values) {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];
}

/** A node and a run of one step, claimed. */
async function claimStep(url) {
  const post = async (path, body) => {
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
    const response = await fetch(url + path, init);
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return response.json();
  };
  await post('/v1/nodes', { node_id: 'n1', capabilities: [{ capability: 'board' }] });
  const requires = [{ as: 'board', capability: 'board' }];
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
