import { afterAll, afterEach, beforeAll, beforeEach, expect, jest } from '@jest/globals';
import { atFailpoints } from '../../src/platform/failpoints.js';
import { createDatabase, type TestDatabase } from './database.js';
import type { Send } from './http.js';
import { startTestMediator, type TestMediator, type TestOptions } from './mediator.js';
import { PlayedNode } from './played-node.js';
import { bearer, type TokensFile } from './tokens.js';

/** A database for the tests of a suite, which start their servers themselves. */
export interface SuiteDatabase extends TestDatabase {
  /** Starts a server on it, which is stopped after the test at the latest. */
  start(options?: StartOptions): Promise<TestMediator>;
}

/** A server that is there before the first test of its suite and is closed after the last. Its members work in tests and hooks. */
export interface SuiteServer extends TestMediator {
  database: SuiteDatabase;
  /** A node that the test plays, with an advert before the first test; one entry of the capability `board` for each set. */
  liveNode(nodeId: string, ...attrs: Record<string, string>[]): PlayedNode;
  /** Does something after the last test, while the server is there; what was named last comes first. */
  atEnd(act: () => Promise<unknown> | unknown): void;
  /** Stops the server, unless it is stopped already, and starts it anew on its database. */
  restart(): Promise<void>;
}

type StartOptions = Omit<TestOptions, 'database'>;

export interface DatabaseOptions {
  /** Each test has a database of its own; unless it is set, all share one. */
  perTest?: boolean;
  /** Done after each test; the view `invariants` is read before and after it. */
  tidy?: () => Promise<unknown>;
}

export interface ServerOptions extends StartOptions {
  /** Done after each test; the view `invariants` is read before and after it. Not for a server that is beside another. */
  tidy?: (server: SuiteServer) => Promise<unknown>;
  /** Who may speak: the server reads this file, which is removed at the end. */
  tokens?: TokensFile;
  /** The token of whoever sends without saying who they are. */
  token?: string;
  /** Puts something between the server and its database; what it opens is closed by whoever has opened it. */
  over?: (database: TestDatabase) => Promise<{ database: TestDatabase }>;
  /** Another suite's server: this one uses its database. */
  beside?: SuiteServer;
}

/**
 * To be called where tests are described. After each test the named points do nothing, mocks are undone, the servers that
 * the test has started are stopped, and the view `invariants` has to be empty.
 */
export function databaseSuite({ perTest = false, tidy }: DatabaseOptions = {}): SuiteDatabase {
  let own: TestDatabase | undefined;
  const started = new Set<TestMediator>();
  const drop = async (): Promise<void> => {
    const database = own;
    own = undefined;
    await database?.drop();
  };
  const database: SuiteDatabase = {
    get url() {
      return there(own).url;
    },
    sql: (text, params) => there(own).sql(text, params),
    drop,
    start: async (options) => {
      const server = await startTestMediator({ ...options, database });
      started.add(server);
      return server;
    },
  };

  const expectNoViolations = async (): Promise<void> =>
    expect(await database.sql('SELECT * FROM invariants')).toEqual([]);

  (perTest ? beforeEach : beforeAll)(async () => {
    own = await createDatabase();
  });
  afterEach(async () => {
    atFailpoints(undefined);
    jest.restoreAllMocks();
    for (const server of started) await server.stop();
    started.clear();
    try {
      await expectNoViolations();
      if (tidy !== undefined) {
        await tidy();
        await expectNoViolations();
      }
    } finally {
      if (perTest) await drop();
    }
  });
  afterAll(drop);
  return database;
}

/** What ends a server and those beside it, the last one first, before their database is dropped. */
const endings = new WeakMap<SuiteServer, (() => Promise<unknown> | unknown)[]>();

/** To be called where tests are described: `databaseSuite` with a server on it; further hooks find it started. */
export function serverSuite({ tokens, token, over, beside, tidy, ...options }: ServerOptions = {}): SuiteServer {
  let server: TestMediator | undefined;
  const stop = async (): Promise<void> => server?.stop();
  const end = async (): Promise<void> => {
    await stop();
    tokens?.remove();
  };
  const ends: (() => Promise<unknown> | unknown)[] = [end];
  if (beside === undefined) {
    // Hooks after all tests run in the order in which they are described: the servers stop, then the database goes.
    afterAll(async () => {
      for (const one of ends.reverse()) await one();
    });
  } else {
    endings.get(beside)!.push(end);
  }
  const database = beside?.database ?? databaseSuite({ tidy: async () => tidy?.(suite) });
  let reached: TestDatabase | undefined;
  const start = async (): Promise<void> => {
    const env = { ...(tokens && { MEDIATOR_TOKENS_FILE: tokens.path }), ...options.env };
    reached ??= over === undefined ? database : (await over(database)).database;
    server = await startTestMediator({ ...options, env, database: reached });
  };
  beforeAll(start);

  const send: Send = (method, path, request) => {
    const headers = { ...(token !== undefined && bearer(token)), ...request?.headers };
    return there(server).send(method, path, { ...request, headers });
  };
  const suite: SuiteServer = {
    get url() {
      return there(server).url;
    },
    get mediator() {
      return there(server).mediator;
    },
    send,
    database,
    node: (nodeId, capabilities = []) => new PlayedNode(send, nodeId, capabilities),
    liveNode: (nodeId, ...attrs) => {
      const node = new PlayedNode(send, nodeId, attrs);
      beforeAll(async () => {
        expect((await node.advertise()).status).toBe(200);
      });
      return node;
    },
    reap: () => there(server).reap(),
    figure: (name) => there(server).figure(name),
    violations: () => there(server).violations(),
    atEnd: (act) => void (beside === undefined ? ends : endings.get(beside)!).push(act),
    restart: async () => {
      await stop();
      await start();
    },
    stop,
    close: stop,
  };
  endings.set(suite, ends);
  return suite;
}

function there<T>(started: T | undefined): T {
  if (started === undefined) throw new Error('It is there in tests and hooks only.');
  return started;
}
