/*
 * Somebody else at the same server, in a thread of its own, so that whatever the test does is not counted as the server's
 * delay: asks /livez and submits, one after the other, and notes how long each took. Told `stop`, it tells what it saw.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';

const { url, headers, role } = workerData;
const PAUSE_MS = 20;
/** What is not answered in this time is not waited for. */
const LONGEST_MS = 60_000;
const told = { stop: false };
parentPort.once('message', () => (told.stop = true));

async function repeat(ask) {
  const seen = { times: 0, worstMs: 0, statuses: {} };
  do {
    const since = performance.now();
    const status = await ask().catch((error) => String(error.cause?.code ?? error));
    seen.worstMs = Math.max(seen.worstMs, performance.now() - since);
    seen.times += 1;
    seen.statuses[status] = (seen.statuses[status] ?? 0) + 1;
    await pause(PAUSE_MS);
  } while (!told.stop);
  return seen;
}

async function ask(method, path, body) {
  const response = await fetch(url + path, {
    method,
    headers: { ...headers, ...(body && { 'content-type': 'application/json' }) },
    body: body && JSON.stringify(body),
    signal: AbortSignal.timeout(LONGEST_MS),
  });
  await response.arrayBuffer();
  return response.status;
}

const contract = {
  requires: [{ as: role, capability: 'board', attrs: { role } }],
  steps: [{ id: 'only', uses: role, run: ['true'] }],
};
await ask('GET', '/livez');
parentPort.postMessage('begun');
const [livez, submit] = await Promise.all([
  repeat(() => ask('GET', '/livez')),
  repeat(() => ask('POST', '/v1/runs', contract)),
]);
parentPort.postMessage({ livez, submit });
