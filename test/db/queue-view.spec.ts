import { nameOf } from '../support/raw-statement.js';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import fc from 'fast-check';
import { signatureOf } from '../../src/domain/contract/contract-identity.js';
import { Config } from '../../src/platform/config/config.js';
import { readConfig } from '../../src/platform/config/read-config.js';
import { Database } from '../../src/platform/database/database.js';
import type { Read } from '../../src/platform/database/statement.js';
import { Notifier } from '../../src/platform/notifier/notifier.js';
import { Metrics } from '../../src/platform/metrics/metrics.js';
import { QueueView } from '../../src/queue/queue-view.js';
import { createDatabase, type TestDatabase } from '../support/database.js';
import { openSession } from '../support/session.js';

type Session = Awaited<ReturnType<typeof openSession>>;

const REQUIRES = ['a', 'b', 'c'].map((role) => [{ as: 'r', capability: 'board', attrs: { role } }]);

/** Puts runs into the queue, one for each id, past the program. */
const ENQUEUE = `
  INSERT INTO runs (run_id, state, principal, contract, contract_hash, requires, spread, signature, queued_at, wait_reason, created_at)
  SELECT run_id, 'QUEUED', 'test', '{}', repeat('0', 64), $2, false, $3, clock_timestamp(), 'BUSY',
         coalesce($4::timestamptz, clock_timestamp())
    FROM unnest($1::text[]) AS run_id ON CONFLICT DO NOTHING`;
const PROMOTE = `
  UPDATE runs SET state = 'RUNNING', assigned = '[]', started_at = clock_timestamp() WHERE run_id = $1 AND state = 'QUEUED'`;
const FORGET = "DELETE FROM runs WHERE run_id = $1 AND state = 'QUEUED'";

function enqueue(session: Pick<Session, 'sql'>, runIds: string[], kind = 0, at?: string): Promise<unknown> {
  const requires = REQUIRES[kind]!;
  return session.sql(ENQUEUE, [runIds, JSON.stringify(requires), signatureOf(requires), at]);
}

/** A process that keeps the queue in memory. */
async function beginView(url: string): Promise<{ view: QueueView; database: Database }> {
  const config = new Config(readConfig({ DATABASE_URL: url, LOG_LEVEL: 'silent' }));
  const database = new Database(config, new Metrics(), new Notifier(config));
  await database.connect(url);
  return { view: new QueueView(database), database };
}

/** The queue as a view has it after a refresh: in its order, and by groups. */
async function seen(view: QueueView): Promise<{ order: string[]; groups: Record<string, string[]> }> {
  const { queue } = await view.refresh();
  const groups = [...queue.groups()].map(({ signature, runs }) => [
    signature,
    [...runs.from({ arrived: -Infinity, seq: 0 })].map(({ run_id }) => run_id),
  ]);
  const order = queue.page(Infinity).map(({ run_id }) => run_id);
  expect(queue.depth).toBe(order.length);
  return { order, groups: Object.fromEntries(groups) };
}

async function stored(database: TestDatabase): Promise<{ order: string[]; groups: Record<string, string[]> }> {
  const rows = await database.sql<{ run_id: string; signature: string }>(
    "SELECT run_id, signature FROM runs WHERE state = 'QUEUED' ORDER BY created_at, seq",
  );
  const groups: Record<string, string[]> = {};
  for (const { run_id, signature } of rows) (groups[signature] ??= []).push(run_id);
  return { order: rows.map(({ run_id }) => run_id), groups };
}

describe('the queue in the memory of two processes', () => {
  let database: TestDatabase;
  let processes: Awaited<ReturnType<typeof beginView>>[];
  let sessions: Session[];
  beforeEach(async () => {
    database = await createDatabase();
    processes = [await beginView(database.url), await beginView(database.url)];
    sessions = await Promise.all([0, 1, 2].map(() => openSession(database)));
  });
  afterEach(async () => {
    jest.restoreAllMocks();
    for (const session of sessions) await session.close();
    for (const one of processes) await one.database.disconnect();
    await database.drop();
  });

  const expectTrue = async (): Promise<void> => {
    const expected = await stored(database);
    for (const { view } of processes) expect(await seen(view)).toEqual(expected);
  };
  /** How often this process reads its queue whole while that is done. */
  const readsWhole = async (of: Database, act: () => Promise<unknown>): Promise<number> => {
    const spy = jest.spyOn(of, 'ask');
    await act();
    const count = spy.mock.calls.filter(([statement]) => nameOf(statement) === 'queue.read-snapshot-mark').length;
    spy.mockRestore();
    return count;
  };

  it('is what is stored, after any transactions that overlap and any refreshes in between', async () => {
    const session = fc.nat(2);
    const run = fc.nat(11).map((which) => `run${which}`);
    const deed = fc.oneof(
      fc.record({ kind: fc.constantFrom('begin' as const, 'commit' as const, 'rollback' as const), session }),
      fc.record({ kind: fc.constant('enqueue' as const), session, run, of: fc.nat(2) }),
      fc.record({ kind: fc.constantFrom('promote' as const, 'forget' as const), session, run }),
      fc.record({ kind: fc.constant('refresh' as const), process: fc.nat(1) }),
      fc.record({ kind: fc.constant('truncate' as const), rarely: fc.nat(3) }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(deed, { maxLength: 40, size: 'max' }), async (deeds) => {
        const open = new Set<number>();
        /** Who has written what in a transaction that is open: another who does the same would wait for it. */
        const writes = new Map<string, number>();
        const end = async (which: number, how: string): Promise<void> => {
          if (!open.delete(which)) return;
          for (const [key, by] of writes) if (by === which) writes.delete(key);
          await sessions[which]!.sql(how);
        };
        for (const one of deeds) {
          if (one.kind === 'refresh') await processes[one.process]!.view.refresh();
          else if (one.kind === 'truncate') {
            if (open.size === 0 && one.rarely === 0) await database.sql('TRUNCATE runs CASCADE');
          } else if ('run' in one) {
            const by = writes.get(one.run) ?? one.session;
            if (by !== one.session) continue;
            if (open.has(one.session)) writes.set(one.run, one.session);
            const mine = sessions[one.session]!;
            if ('of' in one) await enqueue(mine, [one.run], one.of);
            else await mine.sql(one.kind === 'promote' ? PROMOTE : FORGET, [one.run]);
          } else if (one.kind !== 'begin') await end(one.session, one.kind);
          else if (!open.has(one.session)) {
            open.add(one.session);
            // It has its number from now on, and does what it does later.
            await sessions[one.session]!.sql('BEGIN');
            await sessions[one.session]!.sql('SELECT pg_current_xact_id()');
          }
        }
        for (const which of [0, 1, 2]) await end(which, 'COMMIT');
        await expectTrue();
        await database.sql('TRUNCATE runs CASCADE');
      }),
      { numRuns: Number(process.env.DATABASE_PROPERTY_RUNS ?? 40) },
    );
  });

  it('sees a transaction that had its number long before others, and commits after a refresh that has seen those', async () => {
    await expectTrue();
    const [early, late] = sessions as [Session, Session];
    await early.sql('BEGIN');
    await enqueue(early, ['early']);
    await enqueue(late, ['late'], 1);
    await expectTrue();
    await enqueue(late, ['later']);
    await expectTrue();
    expect((await stored(database)).order).toEqual(['late', 'later']);
    await early.sql('COMMIT');
    expect((await stored(database)).order).toHaveLength(3);
    await expectTrue();
  });

  it('is read whole once where the table was emptied, however long an older transaction lasts', async () => {
    const [older] = sessions as [Session];
    await older.sql('BEGIN');
    await older.sql('SELECT pg_current_xact_id()');
    await enqueue(database, ['one', 'two']);
    await expectTrue();
    await database.sql('TRUNCATE runs CASCADE');
    await enqueue(database, ['three']);
    const [{ database: mine, view }] = processes as [(typeof processes)[0]];
    expect(await readsWhole(mine, () => view.refresh())).toBe(1);
    expect(await readsWhole(mine, () => view.refresh())).toBe(0);
    await expectTrue();
    await older.sql('COMMIT');
    await expectTrue();
  });

  it('is right where much happens between the pages of its first reading, and after it', async () => {
    const ids = (from: number, count: number): string[] => Array.from({ length: count }, (_, i) => `run${from + i}`);
    await enqueue(database, ids(0, 12_000));
    const [{ database: mine, view }] = processes as [(typeof processes)[0]];
    const ask = mine.ask.bind(mine);
    let page = 0;
    jest.spyOn(mine, 'ask').mockImplementation(async (statement: Read<unknown>) => {
      const result = await ask(statement);
      if (nameOf(statement) !== 'queue.read-runs' || ++page > 3) return result;
      // One that has been read and one that has not yet leave; one comes behind, and one in front.
      await database.sql(PROMOTE, [`run${page}`]);
      await database.sql(PROMOTE, [`run${11_000 + page}`]);
      await enqueue(database, [`new${page}`], 1);
      await enqueue(database, [`old${page}`], 2, '2001-01-01');
      return result;
    });
    await view.refresh();
    expect(page).toBe(3);
    await expectTrue();

    // More than is read one by one.
    await database.sql("UPDATE runs SET version = version + 1 WHERE state = 'QUEUED'");
    jest.restoreAllMocks();
    expect(await readsWhole(mine, () => view.refresh())).toBe(1);
    await expectTrue();
  });

  it('begins anew after a refresh that failed, and after changes that nobody keeps any more', async () => {
    const [{ database: mine, view }] = processes as [(typeof processes)[0]];
    await enqueue(database, ['one']);
    await view.refresh();
    jest.spyOn(mine, 'ask').mockRejectedValueOnce(new Error('cut off'));
    await expect(view.refresh()).rejects.toThrow('cut off');
    jest.restoreAllMocks();
    expect(await readsWhole(mine, () => view.refresh())).toBe(1);
    await enqueue(database, ['two']);

    const ask = mine.ask.bind(mine);
    jest.spyOn(mine, 'ask').mockImplementationOnce(async (statement: Read<unknown>) => {
      const result = await ask(statement);
      // The next refresh reads that it comes six minutes after the last.
      (result as { now: number }).now += 360_000;
      return result;
    });
    const spy = jest.spyOn(mine, 'ask');
    await view.refresh();
    expect(spy.mock.calls.filter(([statement]) => nameOf(statement) === 'queue.read-snapshot-mark')).toHaveLength(1);
    await expectTrue();
  });

  it('costs other writes of a run nothing: what is noted comes into the queue, changes in it or leaves it', async () => {
    await enqueue(database, ['a', 'b', 'c']);
    await database.sql('UPDATE runs SET version = version + 1 WHERE run_id = $1', ['a']);
    await database.sql(PROMOTE, ['b']);
    await database.sql('DELETE FROM runs WHERE run_id = $1', ['c']);
    await database.sql('UPDATE runs SET version = version + 1 WHERE run_id = $1', ['b']);
    await database.sql(
      `UPDATE runs SET state = 'SUCCEEDED', ended_at = clock_timestamp(), verdict = '{"reason":"succeeded"}' WHERE run_id = 'b'`,
    );
    const noted = await database.sql<{ run_id: string }>('SELECT run_id FROM queue_changes');
    expect(noted.map(({ run_id }) => run_id)).toEqual(['a', 'b', 'c', 'a', 'b', 'c']);
  });
});
