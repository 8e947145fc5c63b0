import { setTimeout as sleep } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { AskNotices } from './asks/ask-notices.js';
import { createApplication } from './create-application.js';
import type { Config } from './platform/config/config.js';
import { Database } from './platform/database/database.js';
import { isUnreachable } from './platform/database/faults.js';
import { Hints } from './platform/database/hints.js';
import { migrate } from './platform/database/migrate.js';
import type { EmbeddedServer } from './platform/embedded/embedded-server.js';
import { startEmbedded } from './platform/embedded/start-embedded.js';
import { Lifecycle } from './platform/lifecycle.js';
import { QueueService } from './queue/queue.service.js';
import { Reaper } from './reaper/reaper.js';
import { ServerPresence } from './reaper/servers/server-presence.js';
import { stopListening } from './stop-listening.js';

/** A Mediator whose port is open. */
export interface Mediator {
  app: NestFastifyApplication;
  /** Where it listens. */
  url: string;
  /** Where the embedded database lies, if that is elsewhere than one would look. */
  notice?: string;
  /** Answers what is under way, then closes the database. */
  stop(): Promise<void>;
  /** Resolves where the embedded database has ended without being asked to. */
  databaseLost: Promise<string>;
}

const RECONNECT_SECONDS = 0.25;
const GRACE_MS = 4000;
/** For what cannot stop at once at the end of the grace. */
const LAST_MS = 300;

/**
 * Starts in this order: the port opens and answers 503 under /v1 → database → migrations → look for an outage,
 * own row → start-up wake → ready → reaper. Resolves when it is ready; what is wrong with the data directory or the port is thrown, a database that does
 * not answer is waited for.
 */
export async function startMediator(
  config: Config,
  onListening: (url: string) => void = () => undefined,
): Promise<Mediator> {
  const app = await createApplication(config);
  let embedded: EmbeddedServer | undefined;
  let stopping: Promise<void> | undefined;
  const stop = (): Promise<void> => (stopping ??= stopInOrder(app, () => embedded));
  try {
    await app.listen(config.port, config.host);
    const url = await app.getUrl();
    onListening(url);
    embedded = config.databaseUrl === undefined ? await startEmbedded({ dataDir: config.dataDir }) : undefined;
    await bringUp(app, config.databaseUrl ?? embedded!.url);
    const databaseLost = embedded?.exited.then(({ reason }) => reason) ?? new Promise<never>(() => undefined);
    return { app, url, notice: embedded?.notice, stop, databaseLost };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function bringUp(app: NestFastifyApplication, databaseUrl: string): Promise<void> {
  const lifecycle = app.get(Lifecycle);
  const database = app.get(Database);
  await untilReached(() => database.connect(databaseUrl), lifecycle.stopping);
  await untilReached(() => migrate(database.source), lifecycle.stopping);
  await untilReached(() => app.get(ServerPresence).arrive(), lifecycle.stopping);
  if (!lifecycle.stopping.aborted) await app.get(Hints).start(databaseUrl);
  await app.get(QueueService).wake('startup');
  if (lifecycle.stopping.aborted) return;
  lifecycle.markReady();
  app.get(Reaper).start();
  app.get(AskNotices).start();
}

/** Tries until the database answers. Any other error is thrown: waiting would not help. */
async function untilReached(step: () => Promise<void>, stopping: AbortSignal): Promise<void> {
  const logger = new Logger('start');
  for (;;) {
    try {
      return await step();
    } catch (error) {
      if (!isUnreachable(error) || stopping.aborted) throw error;
      logger.warn(`the database does not answer yet: ${(error as Error).message}`);
    }
    await sleep(RECONNECT_SECONDS * 1000, undefined, { signal: stopping });
  }
}

async function stopInOrder(app: NestFastifyApplication, embedded: () => EmbeddedServer | undefined): Promise<void> {
  const lifecycle = app.get(Lifecycle);
  lifecycle.beginStop();
  let grace: NodeJS.Timeout | undefined;
  // At the end of the grace a sweep stops between two runs, and connections that are still open are cut.
  const over = new Promise<void>((resolve) => {
    grace = setTimeout(() => {
      lifecycle.endGrace();
      grace = setTimeout(resolve, LAST_MS);
    }, GRACE_MS);
  });
  await stopListening(app);
  await Promise.race([app.get(QueueService).idle(), over]);
  clearTimeout(grace);
  await app.get(ServerPresence).leave();
  await app.get(Hints).stop();
  await app.get(Database).disconnect();
  await embedded()?.stop();
}
