import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { json, text } from 'node:stream/consumers';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { createDatabase, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { spawnServer, type SpawnedServer } from '../support/spawned-server.js';
import { tell, tries } from '../support/storm.js';

const GENERATOR = join(import.meta.dirname, 'load-generator.mjs');
const NODES = tries(50, 200);
const HEARTBEATS_PER_SECOND = 100;
const SUBMISSIONS_PER_SECOND = 50;
const HEARTBEAT_SECONDS = tries(1, 10);
/** So long after its begin the load is judged: until then a server opens its connections, and each of them plans its statements. */
const BEGINNING_SECONDS = tries(0, 5);
const LOAD_SECONDS = BEGINNING_SECONDS + tries(2, 60);
/** In `npm test` another suite runs beside this one, which says nothing about the server: there the time is not judged. */
const MOST_TIMES_IDLE = tries(Infinity, 10);
const MOST_GROWTH = 200 * 1024 * 1024;
/** The pool, and the connection that listens. */
const MOST_CONNECTIONS = 10 + 1;

interface Submission {
  role: 'roomy' | 'scarce';
  status: 201 | 202;
  /** Milliseconds on the clock of the generator. */
  due: number;
  ms: number;
}

interface Mark {
  wakes: Record<string, number>;
  sweeps: Record<string, number>;
  memory: number;
  cpuSeconds: number;
  reports: number;
}

/** What test/storm/load-generator.mjs has seen. */
interface Seen {
  errors: string[];
  idle: Submission[];
  /** Milliseconds. */
  heartbeats: number[];
  submissions: Submission[];
  marks: Record<'idle' | 'heartbeats' | 'half' | 'load', Mark>;
  submitted: number;
  reports: number;
  mostLagMs: number;
}

function startGenerator(url: string): ChildProcess {
  const options = {
    url,
    nodes: NODES,
    heartbeatsPerSecond: HEARTBEATS_PER_SECOND,
    submissionsPerSecond: SUBMISSIONS_PER_SECOND,
    idleSubmissions: tries(20, 200),
    heartbeatSeconds: HEARTBEAT_SECONDS,
    loadSeconds: LOAD_SECONDS,
  };
  return spawn(process.execPath, [GENERATOR, JSON.stringify(options)], { stdio: ['ignore', 'pipe', 'pipe'] });
}

async function endOf(generator: ChildProcess): Promise<Seen> {
  const [seen, complaints] = await Promise.all([json(generator.stdout!), text(generator.stderr!)]);
  expect(complaints).toBe('');
  return seen as Seen;
}

function percentile(values: number[], part: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))]!;
}

const total = (counts: Record<string, number>): number => Object.values(counts).reduce((sum, count) => sum + count, 0);

/** Wakes by why between two moments; those that there were none of are left out. */
function risen(before: Record<string, number>, after: Record<string, number>): Record<string, number> {
  const differences = Object.entries(after).map(([why, count]) => [why, count - (before[why] ?? 0)] as const);
  return Object.fromEntries(differences.filter(([, count]) => count !== 0));
}

describe(`${NODES} parked claims, ${HEARTBEATS_PER_SECOND} heartbeats and ${SUBMISSIONS_PER_SECOND} submissions a second`, () => {
  let database: TestDatabase;
  let server: SpawnedServer;
  let generator: ChildProcess | undefined;
  let seen: Seen;
  beforeAll(async () => {
    database = await createDatabase();
    server = spawnServer({ DATABASE_URL: database.url, MEDIATOR_RENEW_SECONDS: '20' });
    generator = startGenerator(await server.url());
    seen = await endOf(generator);
  }, 300_000);
  afterEach(async () => {
    expect(await database.sql('SELECT * FROM invariants')).toEqual([]);
  });
  afterAll(async () => {
    generator?.kill('SIGKILL');
    await server.stop();
    await database.drop();
  });

  /** How long those took that found a free node, at the beginning of the load and after it. */
  const foundRoom = (): { beginning: number[]; then: number[] } => {
    const judged = Math.min(...seen.submissions.map(({ due }) => due)) + BEGINNING_SECONDS * 1000;
    const found = seen.submissions.filter(({ role, status }) => role === 'roomy' && status === 201);
    const times = (some: Submission[]): number[] => some.map(({ ms }) => ms);
    return {
      beginning: times(found.filter(({ due }) => due < judged)),
      then: times(found.filter(({ due }) => due >= judged)),
    };
  };

  it('no request fails, and nothing is worth a warning', () => {
    expect(seen.errors).toEqual([]);
    expect(server.output().replace(/^.* is ready at .*\n/m, '')).toBe('');
    expect(seen.heartbeats).toHaveLength(HEARTBEATS_PER_SECOND * (HEARTBEAT_SECONDS + LOAD_SECONDS));
    expect(seen.submissions).toHaveLength(SUBMISSIONS_PER_SECOND * LOAD_SECONDS);
  });

  it('every run has SUCCEEDED and is sealed, and the queue is empty', async () => {
    const runs = await database.sql(
      `SELECT state, digest IS NOT NULL AS sealed, count(*)::int AS count
         FROM runs LEFT JOIN records USING (run_id) GROUP BY 1, 2`,
    );
    expect(runs).toEqual([{ state: 'SUCCEEDED', sealed: true, count: seen.submitted }]);
    expect(await database.sql('SELECT node_id FROM leases')).toEqual([]);
    const [waited] = await database.sql<{ count: number }>(
      'SELECT count(*)::int AS count FROM runs WHERE queued_at IS NOT NULL',
    );
    expect(waited!.count).toBeGreaterThan(0);
    tell({
      what: `submissions beside ${NODES} parked claims and ${HEARTBEATS_PER_SECOND} heartbeats/s; ${waited!.count} had to wait`,
      times: seen.submissions.length,
      checked: seen.submitted,
      of: 'runs SUCCEEDED',
      lost: seen.submitted - runs.reduce((sum, { count }) => sum + Number(count), 0) + seen.errors.length,
    });
  });

  it('heartbeats cause no sweep: only what was reported or had to wait does', async () => {
    const { idle, heartbeats, load } = seen.marks;
    expect(risen(idle.wakes, heartbeats.wakes)).toEqual({});
    expect(risen(idle.sweeps, heartbeats.sweeps)).toEqual({});
    const [queued] = await database.sql<{ count: number }>(
      'SELECT count(*)::int AS count FROM runs WHERE queued_at IS NOT NULL',
    );
    const wakes = risen(heartbeats.wakes, load.wakes);
    expect(wakes).toEqual({ result: load.reports - heartbeats.reports, enqueued: queued!.count });
    expect(load.sweeps.failed ?? 0).toBe(0);
    expect(total(risen(heartbeats.sweeps, load.sweeps))).toBeLessThanOrEqual(total(wakes));
    tell({
      what: `heartbeats; ${total(wakes)} wakes of reports and queued runs made ${total(risen(heartbeats.sweeps, load.sweeps))} sweeps`,
      times: seen.heartbeats.length,
      checked: total(load.wakes),
      of: 'wakes',
      lost: total(wakes) - (load.reports - heartbeats.reports) - queued!.count,
    });
  });

  it('its memory stays within bounds, and each connection comes back to the pool', async () => {
    const { heartbeats, half, load } = seen.marks;
    expect(load.memory - heartbeats.memory).toBeLessThan(MOST_GROWTH);
    const busy = await eventually('no connection is busy', async () => {
      const connections = await database.sql<{ state: string }>(
        "SELECT state FROM pg_stat_activity WHERE datname = current_database() AND application_name LIKE 'mediator%'",
      );
      return connections.every(({ state }) => state === 'idle') && connections;
    });
    expect(busy.length).toBeLessThanOrEqual(MOST_CONNECTIONS);
    const mib = [heartbeats, half, load].map(({ memory }) => (memory / 1024 / 1024).toFixed(0));
    const core = (load.cpuSeconds - heartbeats.cpuSeconds) / LOAD_SECONDS;
    tell({
      what: `memory before, halfway, after: ${mib.join(', ')} MiB; the server took ${core.toFixed(2)} of a core`,
      times: 1,
      checked: busy.length,
      of: 'connections, all idle',
      lost: 0,
    });
  });

  it('a submission that finds a free node is not ten times as slow as without the load', () => {
    // A server that has just started is slower.
    const warm = seen.idle.slice(seen.idle.length / 2).map(({ ms }) => ms);
    const idle = percentile(warm, 0.5);
    const { beginning, then } = foundRoom();
    const p99 = percentile(then, 0.99);
    const begun =
      beginning.length > 0 ? ` (in its first ${BEGINNING_SECONDS} s ${percentile(beginning, 0.99).toFixed(1)} ms)` : '';
    tell({
      what: `p99 under load ${p99.toFixed(1)} ms${begun}, p50 ${percentile(then, 0.5).toFixed(1)} ms; idle p50 ${idle.toFixed(1)} ms`,
      times: seen.submissions.length,
      checked: then.length,
      of: 'submissions that found room',
      lost: p99 < MOST_TIMES_IDLE * idle ? 0 : 1,
    });
    expect(then.length).toBeGreaterThan(tries(0, seen.submissions.length / 2));
    expect(p99).toBeLessThan(MOST_TIMES_IDLE * idle);
  });
});
