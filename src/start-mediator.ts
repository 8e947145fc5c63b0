import { Logger } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { AskNotices } from './asks/ask-notices.js';
import { createApplication } from './create-application.js';
import { Config } from './platform/config/config.js';
import { Database } from './platform/database/database.js';
import { migrate } from './platform/migrations/migrate.js';
import { UntilReached } from './platform/sessions/until-reached.js';
import { startEmbedded } from './platform/embedded/start-embedded.js';
import type { EmbeddedServer } from './platform/embedded/start-server.js';
import { Lifecycle } from './platform/lifecycle.js';
import { Notifier } from './platform/notifier/notifier.js';
import { TooLate, within } from './platform/within.js';
import { QueueService } from './queue/queue.service.js';
import { ReleaseEdge } from './queue/release-edge.js';
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
  /** Lingers, answers what is under way, then closes the database. Called once more, it lingers no longer. */
  stop(): Promise<void>;
  /** Resolves where the embedded database has ended without being asked to. */
  databaseLost: Promise<string>;
}

/** What ends at the end of the grace has so long to do so; a database that does not answer keeps nobody for longer. */
const LAST_MS = 500;

/**
 * Starts in this order: the port opens and answers 503 under /v1 → database → migrations → look for an outage, own row →
 * start-up wake → ready → reaper. Resolves when it is ready; what is wrong with the data directory or the port is thrown,
 * a database that does not answer is waited for, and one that cannot be used is thrown as a sentence.
 */
export async function startMediator(
  config: Config,
  onListening: (url: string) => void = () => undefined,
): Promise<Mediator> {
  const app = await createApplication(config);
  let embedded: EmbeddedServer | undefined;
  let stopping: Promise<void> | undefined;
  const stop = (): Promise<void> => {
    if (stopping !== undefined) app.get(Lifecycle).endLinger();
    return (stopping ??= stopInOrder(app, config, () => embedded));
  };
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
  const { answerSeconds } = app.get(Config);
  const reached = new UntilReached(lifecycle.stopping);
  await reached.do('connecting', () => database.connect(databaseUrl));
  await reached.do('later', () => migrate(database.source, { answerSeconds }));
  await reached.do('later', () => app.get(ServerPresence).arrive());
  if (!lifecycle.stopping.aborted) await app.get(Notifier).start(databaseUrl);
  await app.get(QueueService).wake('startup');
  if (lifecycle.stopping.aborted) return;
  lifecycle.markReady();
  app.get(Reaper).start();
  app.get(AskNotices).start();
}

async function stopInOrder(
  app: NestFastifyApplication,
  { stopSeconds, lingerSeconds }: Config,
  embedded: () => EmbeddedServer | undefined,
): Promise<void> {
  const lifecycle = app.get(Lifecycle);
  await lifecycle.linger(lingerSeconds);
  lifecycle.beginStop();
  // At the end of the grace a sweep stops between two runs, and connections that are still open are cut.
  const grace = setTimeout(() => lifecycle.endGrace(), stopSeconds * 1000);
  const finished = stopListening(app).then(() => app.get(ReleaseEdge).idle());
  try {
    await within(stopSeconds + LAST_MS / 1000, finished);
  } catch (error) {
    if (!(error instanceof TooLate)) throw error;
    new Logger('stop').warn({ msg: 'the grace is over: the process ends without waiting for what is still under way' });
  } finally {
    clearTimeout(grace);
  }
  // A row that is not marked makes another server look at the queue, which does no harm.
  await within(LAST_MS / 1000, app.get(ServerPresence).leave()).catch(() => undefined);
  await app.get(Notifier).stop();
  await app.get(Database).disconnect();
  await embedded()?.stop();
}
