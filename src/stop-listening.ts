import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { Lifecycle } from './platform/lifecycle.js';

const GRACE_MS = 4000;
const LOOK_MS = 20;

/**
 * Closes the port: long polls answer at once, what is under way ends, idle connections are closed as they become so.
 * After the grace a sweep stops between two runs, and connections that are still open are cut.
 */
export async function stopListening(app: NestFastifyApplication): Promise<void> {
  const server = app.getHttpServer();
  const lifecycle = app.get(Lifecycle);
  lifecycle.beginStop();
  // A keep-alive connection becomes idle only after its answer: looked at repeatedly, or close() waits for its timeout.
  const idle = setInterval(() => server.closeIdleConnections(), LOOK_MS);
  const grace = setTimeout(() => {
    lifecycle.endGrace();
    server.closeAllConnections();
  }, GRACE_MS);
  try {
    await app.close();
  } finally {
    clearInterval(idle);
    clearTimeout(grace);
  }
}
