import { setImmediate as turn } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { atFailpoints } from '../../src/platform/failpoints.js';
import { R, step } from '../support/contracts.js';
import { eventually } from '../support/eventually.js';
import { startTestMediator, type TestMediator } from '../support/mediator.js';
import { blockedOn } from '../support/parked.js';
import type { PlayedClaim, PlayedNode } from '../support/played-node.js';
import { hold } from '../support/points.js';
import { cancel } from '../support/queue.js';
import { put, upload } from '../support/uploads.js';

describe('an upload that is published against the end of its run', () => {
  let server: TestMediator;
  let other: TestMediator;
  let n1: PlayedNode;
  beforeAll(async () => {
    server = await startTestMediator();
    other = await startTestMediator({ database: server.database });
    n1 = server.node('n1', [{ role: 'x' }]);
    await n1.advertise();
  });
  afterEach(async () => {
    atFailpoints(undefined);
    expect(await server.violations()).toEqual([]);
    expect(await server.database.sql('SELECT * FROM blobs WHERE published_at IS NULL')).toEqual([]);
  });
  afterAll(async () => {
    await other.close();
    await server.close();
  });

  const begin = async (runId: string, more: Record<string, unknown> = {}): Promise<PlayedClaim> => {
    await server.send('POST', '/v1/runs', { body: R('x', { run_id: runId, steps: [step('only', 'x', more)] }) });
    return (await n1.claim()).body;
  };
  /** Whether the upload is there, and was published before the record was closed. */
  const published = async (runId: string): Promise<boolean[]> => {
    const rows = await server.database.sql<{ before: boolean }>(
      'SELECT b.published_at < c.closed_at AS before FROM blobs b JOIN records c USING (run_id) WHERE run_id = $1',
      [runId],
    );
    return rows.map(({ before }) => before);
  };

  it('published first: the cancel waits for it, and the record holds it', async () => {
    const claim = await begin('first');
    const publishing = hold('publish.before-commit');
    const uploaded = upload(server, claim, 'out', 'in time');
    await publishing.reached;
    const cancelled = cancel(other, 'first');
    await blockedOn(server.database, 'records.lock-run');
    publishing.letGo();
    expect([(await uploaded).status, (await cancelled).body.state]).toEqual([204, 'CANCELLED']);
    expect(await published('first')).toEqual([true]);
  });

  it('C9 cancelled first: the upload waits for it, is told 410, and nothing of it is left', async () => {
    const claim = await begin('second');
    const cancelling = hold('cancel.before-commit');
    const cancelled = cancel(server, 'second');
    await cancelling.reached;
    const uploaded = upload(other, claim, 'out', 'too late');
    await blockedOn(server.database, 'records.lock-run');
    cancelling.letGo();
    expect((await cancelled).body.state).toBe('CANCELLED');
    expect(await uploaded).toMatchObject({ status: 410, body: { code: 'run_over' } });
    expect(await server.database.sql("SELECT FROM blobs WHERE run_id = 'second'")).toEqual([]);
  });

  it('many who write to a log do not let each other in past whoever ends the run', async () => {
    const claim = await begin('chatty');
    const path = `${other.url}/v1/runs/chatty/steps/${claim.seq}/log`;
    let appended = 0;
    let goesOn = true;
    const write = async (): Promise<void> => {
      while (goesOn) {
        const { status } = await put(path, 'x'.repeat(30), { 'mediator-lease': claim.lease.nonce });
        if (status === 204) appended++;
        else goesOn = false;
      }
    };
    const writers = Array.from({ length: 8 }, write);
    await eventually('they write', () => appended > 100);

    const before = appended;
    expect((await cancel(server, 'chatty')).body.state).toBe('CANCELLED');
    const slippedIn = appended - before;
    goesOn = false;
    await Promise.all(writers);

    // Those who were there before the cancel, and few more: with a shared lock they go on for as long as they like.
    expect(slippedIn).toBeLessThan(50);
  });

  it('the report that counts on it and comes before it is published fails the step', async () => {
    const claim = await begin('report', { out: ['out'] });
    const stored = hold('store-chunk.committed');
    const uploaded = upload(server, claim, 'out', 'too late');
    await stored.reached;
    expect((await n1.report(claim)).body).toMatchObject({ step_state: 'FAILED', run_state: 'FAILED' });
    stored.letGo();
    expect((await uploaded).status).toBe(410);
    expect(await server.database.sql("SELECT FROM blobs WHERE run_id = 'report'")).toEqual([]);
  });

  it('60 times at another moment: what was answered 204 is in the record, what was not is nowhere', async () => {
    const outcomes = new Set<number>();
    for (let round = 1; round <= 60; round++) {
      const runId = `round-${round}`;
      const claim = await begin(runId);
      const uploaded = upload(round % 2 === 0 ? server : other, claim, 'out', 'x'.repeat(round * 100));
      for (let turns = 0; turns < round * 4; turns++) await turn();
      const [{ status }, cancelled] = await Promise.all([uploaded, cancel(server, runId)]);
      expect(cancelled.body.state).toBe('CANCELLED');
      expect([204, 410]).toContain(status);
      expect(await published(runId)).toEqual(status === 204 ? [true] : []);
      outcomes.add(status);
    }
    expect([...outcomes].sort()).toEqual([204, 410]);
  }, 60_000);
});
