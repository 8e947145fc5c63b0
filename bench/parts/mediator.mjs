/* The compiled program as a process of its own: what a figure over HTTP is measured on. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/**
 * As it is delivered, but for three things. A reaper's pass every hour, so that none falls into a slice, and leases that live
 * for three of them; no log line for each promotion, since the peers write none; and a free port.
 */
export const ENVIRONMENT = {
  PORT: '0',
  LOG_LEVEL: 'warn',
  MEDIATOR_RENEW_SECONDS: '3600',
  MEDIATOR_LEASE_TTL_SECONDS: '10800',
};

/** However this process ends, what it has started does not stay behind. */
const running = new Set();
process.on('exit', () => running.forEach((child) => child.kill('SIGKILL')));

const MAIN = process.env.BENCH_MAIN ?? fileURLToPath(new URL('../../dist/src/main.js', import.meta.url));
const READY = /ready at (http:\/\/[^\s,]+)/;
const START_MS = 120_000;

/** Starts `node <script>`, and gives its address and how long it took until it said that it is ready. */
export async function startProcess(script, env, args = []) {
  const began = performance.now();
  const child = spawn(process.execPath, [script, ...args], {
    env: { PATH: process.env.PATH, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  running.add(child);
  const exited = once(child, 'exit').finally(() => running.delete(child));
  let output = '';
  const { url, readyMs } = await new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`${script} is not ready: ${output}`)), START_MS);
    const settle = (act, value) => {
      clearTimeout(timer);
      act(value);
    };
    const read = (chunk) => {
      output = `${output}${chunk}`.slice(-10_000);
      const found = READY.exec(output);
      if (found) settle(resolve, { url: found[1], readyMs: performance.now() - began });
    };
    child.stdout.on('data', read);
    child.stderr.on('data', read);
    void exited.then(([code]) => settle(reject, new Error(`${script} ended with ${code}: ${output}`)));
  });
  return {
    url,
    readyMs,
    /** MiB of memory that are resident. */
    residentMiB: () => residentMiB(child.pid),
    output: () => output,
    stop: async () => {
      child.kill('SIGTERM');
      await exited;
    },
  };
}

export function startMediatorProcess(databaseUrl, env = {}) {
  return startProcess(MAIN, { ...ENVIRONMENT, DATABASE_URL: databaseUrl, ...env });
}

/** Of Linux, the only system whose answer is exact; elsewhere undefined. */
function residentMiB(pid) {
  if (process.platform !== 'linux') return undefined;
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) / 1024;
}
