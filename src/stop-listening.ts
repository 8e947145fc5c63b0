import type { Server } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { Lifecycle } from './platform/lifecycle.js';

const LOOK_MS = 20;
const QUIET_MS = 60;
const LONGEST_MS = 1000;

/**
 * Closes the port: long polls answer at once, what is under way ends, idle connections are closed as they become so, and
 * those that are still open at the end of the grace are cut. It closes when nobody has come for a moment: the system resets
 * connections that wait to be accepted, and those who send requests here may not know yet that they have to go elsewhere.
 */
export async function stopListening(app: NestFastifyApplication): Promise<void> {
  const server = app.getHttpServer();
  const { graceOver } = app.get(Lifecycle);
  // A keep-alive connection becomes idle only after its answer: looked at repeatedly, or close() waits for its timeout.
  const close = (): void => (graceOver.aborted ? server.closeAllConnections() : server.closeIdleConnections());
  graceOver.addEventListener('abort', close);
  await untilNobodyComes(server, graceOver);
  const closing = setInterval(close, LOOK_MS);
  try {
    await app.close();
  } finally {
    clearInterval(closing);
    graceOver.removeEventListener('abort', close);
  }
}

/** Those who come meanwhile are answered 503, and that their connection closes. */
async function untilNobodyComes(server: Server, graceOver: AbortSignal): Promise<void> {
  let lastMs = performance.now();
  const come = (): void => void (lastMs = performance.now());
  server.on('connection', come).on('request', come);
  const longest = lastMs + LONGEST_MS;
  while (server.listening && !graceOver.aborted && performance.now() < Math.min(lastMs + QUIET_MS, longest))
    await sleep(LOOK_MS);
  server.off('connection', come).off('request', come);
}
