import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { Lifecycle } from './platform/lifecycle.js';

const LOOK_MS = 20;

/**
 * Closes the port: long polls answer at once, what is under way ends, idle connections are closed as they become so, and
 * those that are still open at the end of the grace are cut.
 */
export async function stopListening(app: NestFastifyApplication): Promise<void> {
  const server = app.getHttpServer();
  const { graceOver } = app.get(Lifecycle);
  const cut = (): void => server.closeAllConnections();
  graceOver.addEventListener('abort', cut);
  // A keep-alive connection becomes idle only after its answer: looked at repeatedly, or close() waits for its timeout.
  const idle = setInterval(() => server.closeIdleConnections(), LOOK_MS);
  try {
    await app.close();
  } finally {
    clearInterval(idle);
    graceOver.removeEventListener('abort', cut);
  }
}
