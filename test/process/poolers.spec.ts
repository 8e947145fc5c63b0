import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { R } from '../support/contracts.js';
import { createDatabase, type TestDatabase } from '../support/database.js';
import { startTestMediator } from '../support/mediator.js';
import { openPooler, type Pooler, type PoolerOptions } from '../support/pooler.js';
import { spawnServer } from '../support/spawned-server.js';

jest.setTimeout(60_000);

/** sysexits.h: EX_CONFIG. */
const EXIT_CONFIG = 78;

describe('a pooler in front of the database', () => {
  let database: TestDatabase;
  const open: Pooler[] = [];
  beforeAll(async () => {
    database = await createDatabase();
  });
  afterEach(async () => {
    for (const pooler of open.splice(0)) await pooler.close();
    expect(await database.sql('SELECT * FROM invariants')).toEqual([]);
  });
  afterAll(() => database.drop());

  const pooler = async (options: PoolerOptions): Promise<Pooler> => {
    const opened = await openPooler(database, options);
    open.push(opened);
    return opened;
  };
  /** What it says when it is started behind this pooler, which it must refuse. */
  const refused = async (options: PoolerOptions): Promise<string> => {
    const { url } = await pooler(options);
    const server = spawnServer({ DATABASE_URL: url });
    expect({ code: await server.exited, output: server.output() }).toMatchObject({ code: EXIT_CONFIG });
    return server.output();
  };

  it('that works by sessions and passes everything on serves as well as PostgreSQL itself', async () => {
    const { url } = await pooler({ mode: 'session' });
    const server = await startTestMediator({ database: { ...database, url } });
    await server.node('n1', [{ role: 'x' }]).advertise();
    expect((await server.send('POST', '/v1/runs', { body: R('x', { run_id: 'a' }) })).status).toBe(201);
    expect((await server.node('n1').work()).body).toMatchObject({ run_state: 'SUCCEEDED' });
    await server.stop();
  });

  it('M4: that drops our settings is refused at the start, with a sentence that says what to do', async () => {
    expect(await refused({ mode: 'session', drops: true })).toMatch(
      /^the settings that the Mediator gives its sessions do not arrive \(lock_timeout is 0 instead of 2s and \d+ more\): .*pooler.*DATABASE_URL lead to PostgreSQL itself.*\n$/,
    );
  });

  it('M4: that refuses our settings is not waited for: the same', async () => {
    expect(await refused({ mode: 'session', refuses: true })).toMatch(
      /^the database cannot be used: unsupported startup parameter: options; a pooler refuses .*DATABASE_URL lead to PostgreSQL itself.*\n$/,
    );
  });

  it.each([100, 1])(
    'M4: that works by transactions, with %i server processes, is refused at the start',
    async (most) => {
      expect(await refused({ mode: 'transaction', most })).toMatch(
        /^a pooler .* works by transactions: .*pool_mode = session.*DATABASE_URL lead to PostgreSQL itself\n$/,
      );
    },
  );
});
