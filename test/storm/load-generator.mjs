/*
 * Plays a fleet and its users against a server: parked claims, heartbeats and submissions, at fixed rates. A process of its
 * own, so that what it costs is not the server's. Whatever is sent has a time at which it is due, and its latency counts
 * from there: a server that falls behind does not slow down those who ask, and a generator that falls behind is no excuse.
 * Called with its options as JSON; prints what it saw as JSON.
 */
import { setMaxListeners } from 'node:events';
import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

const { url, nodes, heartbeatsPerSecond, submissionsPerSecond, idleSubmissions, heartbeatSeconds, loadSeconds } =
  JSON.parse(process.argv[2]);
/** How long runs may take to end after the last submission. */
const PATIENCE_SECONDS = 30;
/** Of ten submissions two, due together, want the one node of this role: one of them has to wait. */
const SCARCE = 'scarce';
const ROOMY = 'roomy';

const seen = { errors: [], idle: [], heartbeats: [], submissions: [], marks: {}, mostLagMs: 0 };
const parking = new Agent({ keepAlive: true, maxSockets: Infinity });
const calling = new Agent({ keepAlive: true, maxSockets: Infinity });
const stopped = new AbortController();
setMaxListeners(0, stopped.signal);

/** Sends a request and reads the whole answer. A fault of the connection, and every status that is not wanted, is an error. */
function send(method, path, { body, headers = {}, agent = calling, signal } = {}) {
  return new Promise((resolve, reject) => {
    const text = body === undefined ? undefined : JSON.stringify(body);
    const json =
      text === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) };
    const call = request(url + path, { method, agent, signal, headers: { ...json, ...headers } }, (answer) => {
      const chunks = [];
      answer.on('data', (chunk) => chunks.push(chunk));
      answer.on('error', reject);
      answer.on('end', () => resolve({ status: answer.statusCode, text: Buffer.concat(chunks).toString() }));
    });
    call.on('error', reject);
    call.end(text);
  });
}

async function ask(wanted, method, path, options) {
  try {
    const answer = await send(method, path, options);
    if (wanted.includes(answer.status)) return answer;
    seen.errors.push(`${method} ${path}: ${answer.status} ${answer.text.slice(0, 200)}`);
  } catch (error) {
    if (!options?.signal?.aborted) seen.errors.push(`${method} ${path}: ${error.code ?? error.message}`);
  }
  return undefined;
}

// ------------------------------------------------------------------------------------------------ the fleet

const fleet = Array.from({ length: nodes }, (_, index) => ({
  node_id: `node-${String(index).padStart(4, '0')}`,
  instance: `process-${index}`,
  capabilities: [{ capability: 'board', attrs: { role: index === 0 ? SCARCE : ROOMY } }],
}));
let reports = 0;

function advertise(node) {
  return ask([200], 'POST', '/v1/nodes', { body: node });
}

/** Parks, does what it is given at once, and parks again. */
async function work({ node_id, instance }) {
  while (!stopped.signal.aborted) {
    const headers = { 'mediator-instance': instance };
    const options = { headers, agent: parking, signal: stopped.signal };
    const claimed = await ask([200, 204], 'POST', `/v1/nodes/${node_id}/claim?wait=300`, options);
    if (claimed === undefined) return;
    if (claimed.status === 204) continue;
    const { run_id, seq, attempt, lease } = JSON.parse(claimed.text);
    const body = { node_id, attempt, exit_code: 0 };
    const path = `/v1/runs/${run_id}/steps/${seq}/result`;
    if (await ask([200], 'POST', path, { body, headers: { 'mediator-lease': lease.nonce } })) reports += 1;
  }
}

// ------------------------------------------------------------------------------------------------ at fixed rates

/** Does something so many times a second, each at its own due time; returns when the last was begun. */
async function atRate(perSecond, seconds, act) {
  const begin = performance.now();
  const begun = [];
  for (let index = 0; index < perSecond * seconds; index++) {
    const due = begin + (index * 1000) / perSecond;
    const early = due - performance.now();
    if (early > 1) await sleep(early);
    seen.mostLagMs = Math.max(seen.mostLagMs, performance.now() - due);
    begun.push(act(index, due));
  }
  return begun;
}

function heartbeats(seconds) {
  return atRate(heartbeatsPerSecond, seconds, async (index, due) => {
    if (await advertise(fleet[index % fleet.length])) seen.heartbeats.push(performance.now() - due);
  });
}

let submitted = 0;

async function submit(role, due, into) {
  const body = {
    run_id: `run-${String(submitted++).padStart(6, '0')}`,
    requires: [{ as: role, capability: 'board', attrs: { role } }],
    steps: [{ id: 'only', uses: role, run: ['true'] }],
  };
  const answer = await ask([201, 202], 'POST', '/v1/runs', { body });
  if (answer) into.push({ role, status: answer.status, due, ms: performance.now() - due });
}

function submissions(seconds) {
  return atRate(submissionsPerSecond, seconds, async (index, due) => {
    // The second of ten was due with the first.
    const roles = index % 10 > 1 ? [ROOMY] : index % 10 === 0 ? [SCARCE, SCARCE] : [];
    await Promise.all(roles.map((role) => submit(role, due, seen.submissions)));
  });
}

async function untilAllReported() {
  for (const patience = performance.now() + PATIENCE_SECONDS * 1000; ; await sleep(2)) {
    const missing = submitted - reports;
    if (missing <= 0) return;
    if (performance.now() < patience) continue;
    seen.errors.push(`${missing} runs were not reported within ${PATIENCE_SECONDS} s of the last submission`);
    return;
  }
}

/** What the server says of itself at this moment: wakes by why, sweeps by result, bytes of memory, seconds of CPU. */
async function mark(name) {
  const { text = '' } = (await ask([200], 'GET', '/metrics')) ?? {};
  const labelled = (metric) =>
    Object.fromEntries(
      [...text.matchAll(new RegExp(`^${metric}\\{\\w+="([^"]+)"\\} (\\d+)$`, 'gm'))].map(([, label, count]) => [
        label,
        Number(count),
      ]),
    );
  const single = (metric) => Number(new RegExp(`^${metric} (\\S+)$`, 'm').exec(text)?.[1]);
  seen.marks[name] = {
    wakes: labelled('mediator_wakes_total'),
    sweeps: labelled('mediator_sweeps_total'),
    memory: single('mediator_process_resident_memory_bytes'),
    cpuSeconds: single('mediator_process_cpu_seconds_total'),
    reports,
  };
}

for (const node of fleet) await advertise(node);
const working = fleet.map((node) => work(node));
for (let index = 0; index < idleSubmissions; index++) {
  await submit(ROOMY, performance.now(), seen.idle);
  await untilAllReported();
}
await mark('idle');
await Promise.all(await heartbeats(heartbeatSeconds));
await mark('heartbeats');
const halfway = sleep(loadSeconds * 500).then(() => mark('half'));
const [beats, begun] = await Promise.all([heartbeats(loadSeconds), submissions(loadSeconds), halfway]);
await Promise.all([...beats, ...begun]);
await untilAllReported();
await mark('load');
stopped.abort();
await Promise.all(working);
parking.destroy();
calling.destroy();
process.stdout.write(JSON.stringify({ ...seen, submitted, reports }));
