/*
 * What one careless or hostile caller does, each by itself: what the group `hostile` looks at from beside. Each is bounded in
 * count and time. It gives a note: what the caller got for it.
 */
import { once } from 'node:events';
import { request } from 'node:http';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

const MIB = 1024 * 1024;
const JSON_TYPE = { 'content-type': 'application/json' };
/** An answer that does not come in this time is counted as none. */
const LONGEST_MS = 60_000;
/** How long a caller goes on who would go on for ever. */
const PERSISTENT_MS = 8000;

/** Sends a text as JSON; gives the status, the size of the answer and how long it took. */
async function send(url, method, path, text, headers = {}) {
  const since = performance.now();
  try {
    const signal = AbortSignal.timeout(LONGEST_MS);
    const type = text === undefined ? {} : JSON_TYPE;
    const response = await fetch(url + path, { method, headers: { ...type, ...headers }, body: text, signal });
    const body = await response.text();
    return { status: response.status, bytes: body.length, body, ms: performance.now() - since };
  } catch (error) {
    const status = error.cause?.code ?? error.name;
    return { status, bytes: 0, body: '{}', ms: performance.now() - since };
  }
}

const told = ({ status, bytes, ms }) => `${status}, ${size(bytes)} after ${Math.round(ms)} ms`;
const size = (bytes) => (bytes < MIB ? `${Math.ceil(bytes / 1024)} KiB` : `${(bytes / MIB).toFixed(1)} MiB`);

function keys(count, value) {
  return Array.from({ length: count }, (_, index) => `"${index.toString(36)}":${value}`).join(',');
}

/** A node of the attacker's own, and a run on it whose first step it has claimed. */
async function claimed(url, more = {}) {
  const node = { node_id: 'evil', instance: 'i', capabilities: [{ capability: 'evil' }] };
  await send(url, 'POST', '/v1/nodes', JSON.stringify(node));
  const steps = [{ id: 'only', uses: 'evil', run: ['true'], ...more }];
  const contract = { run_id: 'evil-run', requires: [{ as: 'evil', capability: 'evil' }], steps };
  await send(url, 'POST', '/v1/runs', JSON.stringify(contract));
  const headers = { 'mediator-instance': 'i' };
  const { body } = await send(url, 'POST', '/v1/nodes/evil/claim?wait=0', undefined, headers);
  return JSON.parse(body);
}

/** Ten levels, each of which looks at the next twice. */
function exploding() {
  const $defs = { d10: { type: 'string' } };
  for (let level = 0; level < 10; level++) {
    const next = { $ref: `#/$defs/d${level + 1}` };
    $defs[`d${level}`] = { anyOf: [next, next] };
  }
  return { type: 'object', properties: { v: { $ref: '#/$defs/d0' } }, $defs };
}

function upload(url, claim, name, body, headers = {}) {
  const { run_id, seq, lease } = claim;
  const fence = { 'mediator-lease': lease.nonce, 'content-type': 'application/octet-stream', ...headers };
  return send(url, 'PUT', `/v1/runs/${run_id}/steps/${seq}/blobs/${name}`, body, fence);
}

async function advertise(url, capabilities) {
  const answer = await send(url, 'POST', '/v1/nodes', `{"node_id":"evil","capabilities":${capabilities}}`);
  // What it has done to others shows when they submit next.
  await sleep(500);
  return told(answer);
}

/** Goes on sending behind the head of a request; gives how much was taken, and when the connection ended. */
async function persist(url, head) {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => undefined).resume();
  await once(socket, 'connect');
  const since = performance.now();
  const chunk = Buffer.alloc(MIB);
  let sent = 0;
  socket.write(head);
  while (!socket.destroyed && performance.now() - since < PERSISTENT_MS) {
    if (socket.write(chunk)) await sleep(1);
    else await Promise.race([once(socket, 'drain').catch(() => undefined), once(socket, 'close'), sleep(100)]);
    sent = socket.bytesWritten;
  }
  const seconds = ((performance.now() - since) / 1000).toFixed(1);
  const end = socket.destroyed ? `closed after ${seconds} s` : `still open after ${seconds} s`;
  socket.destroy();
  return `${size(sent)} taken, ${end}`;
}

export const ATTACKS = {
  'an advert of 90,000 attributes': (url) => advertise(url, `[{"capability":"evil","attrs":{${keys(90_000, '""')}}}]`),
  'an advert of 300,000 empty entries': (url) => advertise(url, `[${Array(300_000).fill('{}').join(',')}]`),
  'a schema that explodes, on an upload': async (url) => {
    const claim = await claimed(url, { out: ['v'], schema: { v: exploding() } });
    return told(await upload(url, claim, 'v', '{"v":1}'));
  },
  'a schema that explodes, on an answer': async (url) => {
    const ask = { id: 'ask', ask: { prompt: '?' }, out: ['v'], schema: { v: exploding() }, needs: [] };
    const contract = { run_id: 'evil-ask', requires: [{ as: 'evil', capability: 'evil' }], steps: [ask] };
    await send(url, 'POST', '/v1/nodes', JSON.stringify({ node_id: 'evil', capabilities: [{ capability: 'evil' }] }));
    await send(url, 'POST', '/v1/runs', JSON.stringify(contract));
    return told(await send(url, 'POST', '/v1/runs/evil-ask/steps/1/answer', '{"v":1}'));
  },
  'a cancel with 110,000 keys': async (url) =>
    told(await send(url, 'POST', '/v1/runs/none/cancel', `{${keys(110_000, 1)}}`)),
  'a result with 110,000 keys': async (url) => {
    const body = `{"node_id":"evil","attempt":1,"exit_code":0,${keys(110_000, 1)}}`;
    return told(await send(url, 'POST', '/v1/runs/none/steps/1/result', body, { 'mediator-lease': 'none' }));
  },
  '3,000 parked claims of one instance, and a step': async (url) => {
    const node = { node_id: 'evil', instance: 'i', capabilities: [{ capability: 'evil' }] };
    await send(url, 'POST', '/v1/nodes', JSON.stringify(node));
    const headers = { 'mediator-instance': 'i' };
    const claims = Array.from({ length: 3000 }, () =>
      send(url, 'POST', '/v1/nodes/evil/claim?wait=20', undefined, headers),
    );
    await sleep(5000);
    const requires = [{ as: 'evil', capability: 'evil' }];
    const steps = [{ id: 'only', uses: 'evil', run: ['true'] }];
    await send(url, 'POST', '/v1/runs', JSON.stringify({ requires, steps }));
    const counts = {};
    for (const { status } of await Promise.all(claims)) counts[status] = (counts[status] ?? 0) + 1;
    return Object.entries(counts)
      .map(([status, count]) => `${count} × ${status}`)
      .join(', ');
  },
  '/metrics by 40 loops, 200,000 runs over': async (url) => {
    const until = performance.now() + 10_000;
    let asked = 0;
    const loop = async () => {
      while (performance.now() < until) {
        await send(url, 'GET', '/metrics');
        asked += 1;
        await sleep(200);
      }
    };
    await Promise.all(Array.from({ length: 40 }, loop));
    return `${asked} answers`;
  },
  'a refused request that goes on sending': (url) =>
    // One chunk of 4 GiB, as text where JSON is wanted.
    persist(
      url,
      'POST /v1/runs HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\nffffffff\r\n',
    ),
  '300 undeclared outputs of 1 MiB from one step': async (url) => {
    const claim = await claimed(url);
    const body = Buffer.alloc(MIB, 'x');
    let taken = 0;
    for (let index = 0; index < 300; index++) {
      const { status } = await upload(url, claim, `out-${index}`, body);
      if (status === 204) taken += 1;
    }
    return `${taken} taken`;
  },
  'an upload that goes on after its run was cancelled': async (url) => {
    const { run_id, seq, lease } = await claimed(url);
    const { hostname, port } = new URL(url);
    const headers = { 'mediator-lease': lease.nonce, 'content-type': 'text/plain' };
    const put = request({
      hostname,
      port,
      method: 'PUT',
      path: `/v1/runs/${run_id}/steps/${seq}/blobs/endless`,
      headers,
    });
    let answered;
    put.on('response', (response) => (answered = response.statusCode)).on('error', () => undefined);
    put.write(Buffer.alloc(1024));
    await sleep(500);
    await send(url, 'POST', `/v1/runs/${run_id}/cancel`);
    const since = performance.now();
    while (!put.closed && performance.now() - since < PERSISTENT_MS) {
      put.write(Buffer.alloc(1024));
      await sleep(50);
    }
    const seconds = ((performance.now() - since) / 1000).toFixed(1);
    const { closed } = put;
    put.destroy();
    return closed ? `${answered ?? 'cut'} after ${seconds} s` : `still open after ${seconds} s`;
  },
  'a page of 200 contracts of 250 KB each': async (url) => {
    const node = { node_id: 'evil', capabilities: [{ capability: 'evil' }] };
    await send(url, 'POST', '/v1/nodes', JSON.stringify(node));
    const requires = [{ as: 'evil', capability: 'evil' }];
    const steps = [{ id: 'only', uses: 'evil', run: ['true'] }];
    const contract = { requires, steps, work: { note: 'x'.repeat(250_000) } };
    for (let index = 0; index < 200; index++) await send(url, 'POST', '/v1/runs', JSON.stringify(contract));
    return `runs: ${told(await send(url, 'GET', '/v1/runs?limit=200'))}; queue: ${told(await send(url, 'GET', '/v1/queue?limit=200'))}`;
  },
};
