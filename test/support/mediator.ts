import { Config } from '../../src/platform/config/config.js';
import { readConfig } from '../../src/platform/config/read-config.js';
import { watchNesting } from '../../src/platform/database/nesting.js';
import { atFailpoints } from '../../src/platform/failpoints.js';
import { type Mediator, startMediator } from '../../src/start-mediator.js';
import type { ReaperCounts } from '../../src/reaper/reaper-part.js';
import { ReaperPass } from '../../src/reaper/reaper-pass.js';
import { createDatabase, type TestDatabase } from './database.js';
import { type Send, sender } from './http.js';
import { PlayedNode } from './played-node.js';

watchNesting();

/** The real server in this process, on a database of its own. */
export interface TestMediator {
  url: string;
  send: Send;
  database: TestDatabase;
  mediator: Mediator;
  /** A node that the test plays. */
  node(nodeId: string, capabilities?: Record<string, string>[]): PlayedNode;
  /** One pass of the reaper, whose own loop sleeps in tests: a renew period is an hour unless the test says otherwise. */
  reap(): Promise<ReaperCounts>;
  /** A figure of /metrics; 0 where it has no line yet. */
  figure(name: string): Promise<number>;
  /** The rows of the view `invariants`: there must be none. */
  violations(): Promise<object[]>;
  /** Stops the server; the database stays. */
  stop(): Promise<void>;
  /** Stops the server and drops the database. */
  close(): Promise<void>;
}

export interface TestOptions {
  env?: Record<string, string>;
  /** What no variable sets. */
  config?: Partial<Pick<Config, 'answerSeconds' | 'listenCheckSeconds' | 'bodyPauseSeconds' | 'connectionLifeSeconds'>>;
  /** A database that another server uses too; it is not dropped here. */
  database?: TestDatabase;
}

export async function startTestMediator({ env = {}, config: more, database }: TestOptions = {}): Promise<TestMediator> {
  const own = database ?? (await createDatabase());
  const read = readConfig({
    DATABASE_URL: own.url,
    PORT: '0',
    LOG_LEVEL: process.env.TEST_LOG_LEVEL ?? 'silent',
    MEDIATOR_RENEW_SECONDS: '3600',
    // Never less than renew × factor, whatever the test says these are.
    MEDIATOR_LEASE_TTL_SECONDS: '36000',
    MEDIATOR_STOP_SECONDS: '4',
    ...env,
  });
  const mediator = await startMediator(new Config({ ...read, ...more }));
  const send = sender(mediator.url);
  const stop = async (): Promise<void> => {
    atFailpoints(undefined);
    await mediator.stop();
  };
  return {
    url: mediator.url,
    send,
    database: own,
    mediator,
    node: (nodeId, capabilities = []) => new PlayedNode(send, nodeId, capabilities),
    reap: () => mediator.app.get(ReaperPass).run(),
    figure: async (name) => {
      const { body } = await send<string>('GET', '/metrics');
      const line = body.split('\n').find((one) => one.startsWith(`${name} `));
      return line === undefined ? 0 : Number(line.slice(name.length + 1));
    },
    violations: () => own.sql('SELECT * FROM invariants'),
    stop,
    close: async () => {
      await stop();
      if (database === undefined) await own.drop();
    },
  };
}
