import { randomUUID } from 'node:crypto';
import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, describe, expect, it } from '@jest/globals';
import { within } from '../../src/platform/within.js';
import { ExpiredRuns } from '../../src/reaper/expired-runs.js';
import { LeftoverLeases } from '../../src/reaper/leftovers.js';
import { OverdueSteps } from '../../src/reaper/overdue.js';
import { LostServers } from '../../src/reaper/servers/lost-servers.js';
import { needs, R, step } from '../support/contracts.js';
import { eventually } from '../support/eventually.js';
import { blockedOn, carriedOut } from '../support/parked.js';
import type { PlayedClaim, PlayedNode } from '../support/played-node.js';
import { hold } from '../support/failpoints.js';
import { cancel, promotion, show, submit, submitAll } from '../support/queue.js';
import { serverSuite } from '../support/server-suite.js';
import { put, upload } from '../support/uploads.js';

describe('the cancel of a waiting run against the release that would promote it', () => {
  const server = serverSuite();
  const other = serverSuite({ beside: server });
  it('B16 200 times: the run is over without a lease, and the next in line has the node', async () => {
    await server.node('N1', [{ role: 'x' }]).advertise();
    let holder = 'a0';
    expect(await submitAll(server, R('x', { run_id: holder }))).toEqual([201]);
    for (let round = 1; round <= 200; round++) {
      const [b, c] = [`b${round}`, `c${round}`];
      expect(await submitAll(server, R('x', { run_id: b }), R('x', { run_id: c }))).toEqual([202, 202]);
      const release = cancel(server, holder);
      // Every round meets another moment of the release; every second one comes from another process.
      for (let turns = 0; turns < round % 40; turns++) await turn();
      const answers = await within(20, Promise.all([release, cancel(round % 2 === 0 ? server : other, b)]));

      expect(answers.map(({ status, body }) => [status, body.state])).toEqual([
        [200, 'CANCELLED'],
        [200, 'CANCELLED'],
      ]);
      expect(
        await server.database.sql(
          `SELECT run_id, state, node_id FROM runs LEFT JOIN leases USING (run_id)
            WHERE run_id IN ($1, $2) OR node_id = 'N1' ORDER BY run_id`,
          [b, c],
        ),
      ).toEqual([
        { run_id: b, state: 'CANCELLED', node_id: null },
        { run_id: c, state: 'RUNNING', node_id: 'N1' },
      ]);
      holder = c;
    }
    expect(await server.database.sql('SELECT run_id FROM leases')).toEqual([{ run_id: 'c200' }]);
    expect(await server.figure('mediator_sweeps_total{result="failed"}')).toBe(0);
    expect(await server.figure('mediator_sweeps_total{result="incomplete"}')).toBe(0);
    // Two hundred rounds are slow on a machine that is busy; one that hangs is told by its own limit.
  }, 180_000);

  it('the cancel meets the promotion before its commit: it waits, ends the run with its lease, and the next has the node', async () => {
    await server.node('N2', [{ role: 'y' }]).advertise();
    expect(await submitAll(server, ...['ya', 'yb', 'yc'].map((run_id) => R('y', { run_id })))).toEqual([201, 202, 202]);
    const promoting = hold('promote.before-commit');
    const release = cancel(server, 'ya');
    await promoting.reached;
    await carriedOut(server.database, 'queue.promote');
    const cancelled = cancel(other, 'yb');
    await eventually('the cancel waits for the run', async () => {
      const [waiting] = await server.database.sql(
        "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%records.lock-run%'",
      );
      return waiting !== undefined;
    });
    promoting.letGo();
    const answers = await Promise.all([release, cancelled]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    expect(await show(server, 'yb')).toMatchObject({ state: 'CANCELLED', started_at: expect.any(String) });
    expect(await promotion(server, 'yb')).toMatchObject({ holds: [] });
    expect(await server.database.sql("SELECT node_id, why FROM grants WHERE run_id = 'yb'")).toEqual([
      { node_id: 'N2', why: 'cancelled' },
    ]);
    expect(await promotion(server, 'yc')).toEqual({ state: 'RUNNING', whys: ['cancel'], holds: ['N2'] });
  });
});

describe('D9 an advert with drain races a promotion onto that node', () => {
  const server = serverSuite();
  let n1: PlayedNode;
  let made = 0;
  const leases = (): Promise<unknown[]> =>
    server.database.sql('SELECT run_id, node_id FROM leases WHERE node_id = $1', [n1.nodeId]);

  /** A fresh node that a run holds, and a run that waits for it. Cancels the first, and stops its promotion at the point. */
  const promoteUpTo = async (point: string) => {
    const role = `r${++made}`;
    n1 = server.node(`n${made}`, [{ role }]);
    await n1.advertise();
    const [a, b] = [`a${made}`, `b${made}`];
    expect(await submitAll(server, R(role, { run_id: a }), R(role, { run_id: b }))).toEqual([201, 202]);
    const { reached, letGo } = hold(point);
    const cancelled = cancel(server, a);
    await reached;
    return { b, cancelled, letGo };
  };

  /** The promotion has the node, and is not committed; an advert that drains waits for it. Lets both go on. */
  const drainBehindPromotion = async (drain: string) => {
    const { b, cancelled, letGo } = await promoteUpTo('promote.before-commit');
    await carriedOut(server.database, 'queue.promote');
    const advert = n1.advertise({ drain });
    await blockedOn(server.database, 'nodes.lock-advert');
    letGo();
    const [{ body }] = await Promise.all([advert, cancelled]);
    return { b, body };
  };

  it.each(['graceful', 'at-boundary'])(
    'D9 the advert is first (%s): its answer shows no lease, and the run is not promoted',
    async (drain) => {
      const { b, cancelled, letGo } = await promoteUpTo('promote.before-grant');
      const advert = await n1.advertise({ drain });
      expect([advert.status, advert.body.leases]).toEqual([200, []]);
      letGo();

      expect(await cancelled).toMatchObject({ status: 200, body: { state: 'CANCELLED' } });
      expect(await leases()).toEqual([]);
      expect(await show(server, b)).toMatchObject({
        state: 'QUEUED',
        assigned: [],
        waiting: { reason: 'DRAINING' },
        steps: [{ state: 'PENDING', node_id: null }],
      });
      expect(await server.database.sql('SELECT 1 FROM grants WHERE run_id = $1', [b])).toEqual([]);
      // Nor does anything that comes later promote it, before the drain is lifted.
      await server.reap();
      expect((await n1.advertise({ drain })).body.leases).toEqual([]);
      expect((await n1.advertise()).body.leases).toMatchObject([{ run_id: b }]);
    },
  );

  it('D9 the promotion is first, graceful: the advert waits for it, and its answer shows the lease', async () => {
    const { b, body } = await drainBehindPromotion('graceful');
    expect(body).toMatchObject({ drain: 'graceful', leases: [{ run_id: b, node_id: n1.nodeId }] });
    const claimed = (await n1.claim()).body;
    expect(claimed).toMatchObject({ run_id: b, lease: { nonce: body.leases[0].nonce } });
    expect((await n1.report(claimed)).body.run_state).toBe('SUCCEEDED');
  });

  it('D9 the promotion is first, at-boundary: the advert waits for it, sends the run back, and shows no lease', async () => {
    const { b, body } = await drainBehindPromotion('at-boundary');
    expect(body).toMatchObject({ drain: 'at-boundary', leases: [] });
    expect(await leases()).toEqual([]);
    expect(await show(server, b)).toMatchObject({ state: 'QUEUED', assigned: [], waiting: { reason: 'DRAINING' } });
    expect((await n1.claim()).status).toBe(204);
  });
});

describe('an upload that is published against the end of its run', () => {
  const server = serverSuite();
  const other = serverSuite({ beside: server });
  const n1 = server.liveNode('n1', { role: 'x' });
  afterEach(async () => {
    expect(await server.database.sql('SELECT * FROM blobs WHERE published_at IS NULL')).toEqual([]);
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

// A part of the reaper finds without a lock: by the time it reaps, what it has found may be something else.
describe('what the reaper has found, and is otherwise by the time it is locked', () => {
  const server = serverSuite();
  it('a lease that outlived its run: it is deleted, and the node is the next run’s', async () => {
    await server.node('L-N', [{ role: 'l' }]).advertise();
    expect(await submitAll(server, R('l', { run_id: 'l-a' }), R('l', { run_id: 'l-b' }))).toEqual([201, 202]);
    await cancel(server, 'l-a');
    expect(await server.mediator.app.get(LeftoverLeases).reap({ node_id: 'L-N', run_id: 'l-a' })).toBe(false);
    expect(await promotion(server, 'l-b')).toMatchObject({ state: 'RUNNING', holds: ['L-N'] });
  });

  it('a lease that ran out: its run is over, and a lease of it is left', async () => {
    await server.node('E-N', [{ role: 'e' }]).advertise();
    expect(await submitAll(server, R('e', { run_id: 'e-a' }))).toEqual([201]);
    await cancel(server, 'e-a');
    await server.database.sql(
      "INSERT INTO leases (node_id, run_id, not_after, nonce, roles) VALUES ('E-N', 'e-a', clock_timestamp(), 'n', '{e}')",
    );
    expect(await server.mediator.app.get(ExpiredRuns).reap('e-a')).toBe(false);
    expect(await show(server, 'e-a')).toMatchObject({ state: 'CANCELLED', verdict: { reason: 'cancelled' } });
    expect(await server.reap()).toMatchObject({ leftovers: 1, errors: 0 });
  });

  it('a step out of time: it was reported', async () => {
    const node = server.node('T-N', [{ role: 't' }]);
    await node.advertise();
    const steps = [step('one', 't', { timeout_seconds: 1 }), step('two', 't')];
    expect((await submit(server, { run_id: 't-a', requires: [needs('t')], steps })).status).toBe(201);
    const { body: claim } = await node.claim();
    await server.database.sql(
      "UPDATE steps SET started_at = started_at - interval '1 day' WHERE run_id = 't-a' AND seq = 1",
    );
    await node.report(claim);
    expect(await server.mediator.app.get(OverdueSteps).reap({ run_id: 't-a', seq: 1 })).toBe(false);
    expect((await show(server, 't-a')).state).toBe('RUNNING');
    await cancel(server, 't-a');
  });

  it.each([
    ['it has spoken', ', seen_at = clock_timestamp()'],
    ['it has stopped by itself', ', stopped_at = clock_timestamp()'],
  ])('a server that was not seen: %s', async (_what, meanwhile) => {
    const serverId = randomUUID();
    await server.database.sql(
      "INSERT INTO servers (server_id, seen_at) VALUES ($1, clock_timestamp() - interval '1 day')",
      [serverId],
    );
    const lost = server.mediator.app.get(LostServers);
    expect(await lost.find()).toEqual([serverId]);
    await server.database.sql(`UPDATE servers SET server_id = server_id ${meanwhile} WHERE server_id = $1`, [serverId]);
    expect(await lost.reap(serverId)).toBe(false);
    await server.database.sql('DELETE FROM servers WHERE server_id = $1', [serverId]);
  });
});
