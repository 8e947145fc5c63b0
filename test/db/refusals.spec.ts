import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { Database } from '../../src/platform/database/database.js';
import { refusal } from '../../src/platform/database/refusals.js';
import type { Tx } from '../../src/platform/database/queryable.js';
import { closeRecord, writeSeal } from '../../src/records/records.sql.js';
import { writeEnding } from '../../src/steps/run-endings.sql.js';
import { writeFailure } from '../../src/steps/steps.sql.js';
import { R } from '../support/contracts.js';
import { startTestMediator, type TestMediator } from '../support/mediator.js';
import { cancel, submitAll } from '../support/queue.js';

// What a statement refuses by itself, whoever sends it.
describe('a statement that comes too late', () => {
  let server: TestMediator;
  let database: Database;
  beforeAll(async () => {
    server = await startTestMediator();
    database = server.mediator.app.get(Database);
    await server.node('N1', [{ role: 'x' }]).advertise();
    expect(await submitAll(server, R('x', { run_id: 'over' }), R('x', { run_id: 'waits' }))).toEqual([201, 202]);
    await cancel(server, 'over');
  });
  afterEach(async () => {
    expect(await server.violations()).toEqual([]);
  });
  afterAll(() => server.close());

  const refused = async (statement: (tx: Tx) => unknown): Promise<string | undefined> => {
    const work = (tx: Tx): Promise<void> => {
      statement(tx);
      return Promise.resolve();
    };
    return database.transaction('test', work).then(() => 'it was not', refusal);
  };

  it('ends no run a second time', async () => {
    const verdict = { reason: 'cancelled', detail: 'again', by: { kind: 'person', name: 'ann' }, checks: [] } as const;
    const again = (tx: Tx): unknown => tx.send(writeEnding('over', 'CANCELLED', { ...verdict, checks: [] }));
    expect(await refused(again)).toBe('run_over');
  });

  it('fails no step that is not under way', async () => {
    expect(await refused((tx) => tx.send(writeFailure('waits', 1, 'late', 'under way')))).toBe('not_under_way');
  });

  it('closes no record a second time', async () => {
    expect(await refused((tx) => tx.send(closeRecord('over')))).toBe('record_closed');
  });

  it('seals no record a second time, which is no fault', async () => {
    const rendered = { files: {}, sums: 'none', digest: `sha256:${'0'.repeat(64)}` } as never;
    expect(await database.transaction('test', (tx) => tx.ask(writeSeal('over', rendered)))).toBe(false);
  });
});
