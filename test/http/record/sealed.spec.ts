import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { needs, R, step } from '../../support/contracts.js';
import { eventually } from '../../support/eventually.js';
import type { Answer } from '../../support/http.js';
import type { PlayedNode } from '../../support/played-node.js';
import { once } from '../../support/failpoints.js';
import { serverSuite } from '../../support/server-suite.js';
import { everything } from '../../support/stored.js';

const run = promisify(execFile);
/** As long as a run id may be, with every character it may have: its folder does not fit the first header of a tar. */
const LONG = `over.-_:@+${'x'.repeat(190)}`;

describe('the record of a run that is over', () => {
  const server = serverSuite();
  let folder: string;
  const path = `/v1/runs/${encodeURIComponent(LONG)}`;
  const contract = {
    // Keys out of order, and one whose value is a number that JSON writes in more than one way.
    run_id: LONG,
    work: { system: 'gerrit', change_id: '4711', zeta: 1.5, alpha: [null, 'ü'] },
    steps: [step('one', 'x'), step('two', 'y', { allow_failure: true })],
    requires: [needs('x'), needs('y')],
    success_when: [{ step: 'two', exit_code: 3 }],
  };
  const top = (): string => join(folder, `run-${LONG}`);
  const readJson = async (file: string): Promise<any> => JSON.parse(await readFile(join(top(), file), 'utf8'));
  const download = async (): Promise<Buffer> =>
    Buffer.from(await (await fetch(`${server.url}${path}/record`)).arrayBuffer());

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'mediator-record-'));
    const [n1, n2] = [server.node('n1', [{ role: 'x' }]), server.node('n2', [{ role: 'y' }])];
    n1.instance = 'boot-1';
    await n1.advertise({ label: 'the first' });
    await n2.advertise();
    await server.send('POST', '/v1/runs', { body: R('x', { run_id: 'before' }) });
    const submitted = { body: contract, headers: { 'mediator-principal': 'paula' } };
    expect((await server.send('POST', '/v1/runs', submitted)).status).toBe(202);
    expect(await server.send('GET', `${path}/record`)).toMatchObject({ status: 409, body: { code: 'not_sealed' } });
    await n1.work();
    await n1.work();
    expect(await server.send('GET', `${path}/record`)).toMatchObject({ status: 409, body: { code: 'not_sealed' } });
    expect((await n2.work({ exit_code: 3 })).body.run_state).toBe('SUCCEEDED');
    await writeFile(join(folder, 'record.tar'), await download());
    await run('tar', ['-xf', 'record.tar'], { cwd: folder });
  });
  afterAll(async () => {
    await rm(folder, { recursive: true });
  });

  it('C4 the run holds no lease', async () => {
    expect(await server.database.sql('SELECT node_id FROM leases')).toEqual([]);
  });

  it('C4 the sums of the unpacked tar are right, cover every file, and their own sum is the digest', async () => {
    const { stdout } = await run('sha256sum', ['--check', '--strict', 'SHA256SUMS'], { cwd: top() });
    const files = ['manifest.json', 'steps/1-one.json', 'steps/2-two.json', 'verdict.json'];
    expect(stdout).toBe(files.map((file) => `${file}: OK\n`).join(''));
    const listed = (await run('tar', ['-tf', 'record.tar'], { cwd: folder })).stdout.trim().split('\n');
    expect(listed).toEqual(['', ...files, 'SHA256SUMS'].map((file) => `run-${LONG}/${file}`));

    const digest = `sha256:${createHash('sha256')
      .update(await readFile(join(top(), 'SHA256SUMS')))
      .digest('hex')}`;
    const { headers, body } = await server.send('GET', path);
    expect(body.record).toEqual({ state: 'SEALED', digest });
    expect(headers.get('etag')).toBe(`"${body.version}"`);
    const record = await server.send('GET', `${path}/record`);
    expect([record.headers.get('etag'), record.headers.get('content-type')]).toEqual([
      `"${digest}"`,
      'application/x-tar',
    ]);
  });

  it('C4 the manifest holds the contract as submitted, who asked, the waiting story and the grants', async () => {
    const manifest = await readJson('manifest.json');
    const { body: shown } = await server.send('GET', path);
    const { body: holder } = await server.send('GET', '/v1/runs/before');

    expect(JSON.stringify(manifest.contract)).toBe(JSON.stringify(contract));
    expect(manifest).toMatchObject({
      run_id: LONG,
      state: 'SUCCEEDED',
      principal: 'paula',
      work_id: 'gerrit:4711',
      assigned: [
        { as: 'x', nodes: [{ node_id: 'n1', label: 'the first' }] },
        { as: 'y', nodes: [{ node_id: 'n2', label: 'n2' }] },
      ],
      created_at: shown.created_at,
      started_at: shown.started_at,
      ended_at: shown.ended_at,
      waiting: {
        queued_at: shown.created_at,
        reason: 'BUSY',
        holders: [
          {
            node_id: 'n1',
            run_id: 'before',
            principal: expect.stringMatching(/./),
            since: expect.any(String),
            not_after: expect.any(String),
          },
        ],
        promoted_at: expect.any(String),
        promoted_by: ['result'],
        ended: 'PROMOTED',
      },
      waited: [{ queued_at: shown.created_at, reason: 'BUSY', promoted_at: expect.any(String), whys: ['result'] }],
      grants: [
        { node_id: 'n1', roles: ['x'], why: 'succeeded' },
        { node_id: 'n2', roles: ['y'], why: 'succeeded' },
      ],
    });
    const times = [shown.created_at, holder.ended_at, manifest.waiting.promoted_at, shown.ended_at];
    expect(times).toEqual([...times].sort());
  });

  it('C4 each step is there with its attempts, and the verdict with its checks', async () => {
    expect(await readJson('steps/1-one.json')).toMatchObject({
      seq: 1,
      id: 'one',
      kind: 'run',
      uses: 'x',
      state: 'DONE',
      node_id: 'n1',
      needs: [],
      result: { exit_code: 0 },
      attempts: [{ attempt: 1, node_id: 'n1', instance: 'boot-1', state: 'DONE', result: { exit_code: 0 } }],
    });
    expect(await readJson('steps/2-two.json')).toMatchObject({
      needs: ['one'],
      state: 'DONE',
      result: { exit_code: 3 },
      attempts: [{ attempt: 1, node_id: 'n2', instance: null, state: 'DONE', result: { exit_code: 3 } }],
    });
    const { body: shown } = await server.send('GET', path);
    expect(await readJson('verdict.json')).toEqual({ run_id: LONG, state: 'SUCCEEDED', ...shown.verdict });
    expect(shown.verdict).toMatchObject({
      reason: 'succeeded',
      by: { kind: 'node', name: 'n2' },
      checks: [{ step: 'two', what: 'exit_code', want: 3, got: 3, ok: true }],
    });
  });

  it('C4 two downloads are the same bytes, also from a server that started later', async () => {
    const first = await download();
    // A tar tells times in seconds: one that told when it was made would differ only from the next second on.
    const second = (): number => Math.floor(Date.now() / 1000);
    const made = second();
    await eventually('the clock shows another second', () => second() > made);
    const later = await server.database.start();
    const again = Buffer.from(await (await fetch(`${later.url}${path}/record`)).arrayBuffer());
    expect([(await download()).equals(first), again.equals(first)]).toEqual([true, true]);
    expect(first.length).toBeGreaterThan(2048);
  });

  describe('against SQL', () => {
    // A run under way, whose rows a statement could move into the closed record.
    beforeAll(async () => {
      expect((await server.send('POST', '/v1/runs', { body: R('x', { run_id: 'open' }) })).status).toBe(201);
    });

    it.each([
      ['UPDATE runs', "UPDATE runs SET principal = 'mallory' WHERE run_id = $1", 'closed'],
      [
        'UPDATE runs back to life',
        "UPDATE runs SET state = 'RUNNING', ended_at = NULL, verdict = NULL WHERE run_id = $1",
        'closed',
      ],
      ['DELETE runs', 'DELETE FROM runs WHERE run_id = $1', 'closed'],
      ['INSERT runs', 'INSERT INTO runs OVERRIDING SYSTEM VALUE SELECT * FROM runs WHERE run_id = $1', 'runs_pkey'],
      ['UPDATE steps', "UPDATE steps SET result = '{}' WHERE run_id = $1", 'closed'],
      [
        'UPDATE steps of another run into it',
        "UPDATE steps SET run_id = $1, seq = 9, id = 'nine' WHERE run_id = 'open'",
        'closed',
      ],
      [
        'INSERT steps',
        "INSERT INTO steps (run_id, seq, id, kind, uses, needs) VALUES ($1, 9, 'nine', 'run', 'x', '{}')",
        'closed',
      ],
      ['DELETE steps', 'DELETE FROM steps WHERE run_id = $1', 'closed'],
      ['UPDATE attempts', "UPDATE attempts SET result = '{}' WHERE run_id = $1", 'closed'],
      ['INSERT attempts', "INSERT INTO attempts (run_id, seq, attempt, state) VALUES ($1, 1, 2, 'CLAIMED')", 'closed'],
      ['DELETE attempts', 'DELETE FROM attempts WHERE run_id = $1', 'closed'],
      ['UPDATE grants', "UPDATE grants SET why = 'mallory' WHERE run_id = $1", 'closed'],
      ['INSERT grants', "INSERT INTO grants (node_id, run_id, roles) VALUES ('n2', $1, '{}')", 'closed'],
      ['DELETE grants', 'DELETE FROM grants WHERE run_id = $1', 'closed'],
      ['UPDATE records', "UPDATE records SET files = '{}' WHERE run_id = $1", 'closed'],
      ['UPDATE records open again', 'UPDATE records SET closed_at = NULL WHERE run_id = $1', 'closed'],
      [
        'UPDATE records unsealed',
        'UPDATE records SET digest = NULL, sealed_at = NULL, files = NULL, sums = NULL WHERE run_id = $1',
        'closed',
      ],
      ['INSERT records', 'INSERT INTO records (run_id) VALUES ($1)', 'records_pkey'],
      ['DELETE records', 'DELETE FROM records WHERE run_id = $1', 'closed'],
    ])('C4 %s is refused', async (_what, statement, by) => {
      const stored = await everything(server.database);
      await expect(server.database.sql(statement, [LONG])).rejects.toThrow(by);
      expect(await everything(server.database)).toEqual(stored);
    });
  });
});

describe('what leaves a waiting run alone, and what makes up for a seal that failed', () => {
  const server = serverSuite();
  let [n1, n2]: PlayedNode[] = [];
  beforeAll(async () => {
    [n1, n2] = [server.node('n1', [{ role: 'x' }]), server.node('n2', [{ role: 'y' }])];
    await n1.advertise();
    await n2.advertise();
    for (const body of [R('x', { run_id: 'a' }), R('y', { run_id: 'h' }), R('y', { run_id: 'b' })]) {
      await server.send('POST', '/v1/runs', { body });
    }
  });
  const get = (runId: string): Promise<Answer> => server.send('GET', `/v1/runs/${runId}`);
  const storedRun = async (): Promise<unknown[]> => [
    await server.database.sql("SELECT * FROM runs WHERE run_id = 'b'"),
    await server.database.sql("SELECT * FROM steps WHERE run_id = 'b'"),
    await server.database.sql("SELECT * FROM records WHERE run_id = 'b'"),
  ];

  it('C2 settlement never touches a queued run: neither a report of its step nor the end or drain of another run', async () => {
    const before = await storedRun();
    const claimed = (await n1!.claim()).body;
    const forged = { ...claimed, run_id: 'b' };
    expect(await n1!.report(forged)).toMatchObject({ status: 409, body: { code: 'stale_lease' } });
    expect(await n2!.report({ ...(await n2!.claim()).body, run_id: 'b' })).toMatchObject({ status: 409 });
    expect(await storedRun()).toEqual(before);

    expect((await n1!.report(claimed)).body.run_state).toBe('SUCCEEDED');
    await n2!.advertise({ drain: 'at-boundary' });
    expect(await storedRun()).toEqual(before);
    expect((await get('b')).body).toMatchObject({ state: 'QUEUED', waiting: { reason: 'BUSY' } });
    await n2!.advertise({ drain: 'graceful' });
  });

  it('C3 a run that has waited for a year and many reaper passes still waits, and its record is not sealed', async () => {
    await server.database.sql(
      "UPDATE runs SET created_at = created_at - interval '1 year', queued_at = queued_at - interval '1 year' WHERE run_id = 'b'",
    );
    const before = await storedRun();
    for (let pass = 1; pass <= 20; pass++) {
      expect(await server.reap()).toMatchObject({ expired: 0, leftovers: 0, sealed: 0, errors: 0 });
    }
    expect(await storedRun()).toEqual(before);
    expect((await get('b')).body).toMatchObject({ state: 'QUEUED', record: { state: 'OPEN', digest: null } });
    const record = await server.send('GET', '/v1/runs/b/record');
    expect([record.status, record.body.code]).toEqual([409, 'not_sealed']);
    expect(record.headers.get('content-type')).toContain('application/problem+json');
  });

  it.each(['seal.before-commit', 'seal.committed'])(
    'a seal that fails at %s does not fail the request; the reaper finishes the record, once',
    async (place) => {
      const runId = place.replace('.', '-');
      expect((await server.send('POST', '/v1/runs', { body: R('x', { run_id: runId }) })).status).toBe(201);
      once(place, () => {
        throw new Error('forced');
      });

      expect(await n1!.work()).toMatchObject({ status: 200, body: { run_id: runId, run_state: 'SUCCEEDED' } });

      const sealed = place === 'seal.committed';
      expect((await get(runId)).body.record.state).toBe(sealed ? 'SEALED' : 'OPEN');
      expect((await server.send('GET', `/v1/runs/${runId}/record`)).status).toBe(sealed ? 200 : 409);
      expect((await server.reap()).sealed).toBe(sealed ? 0 : 1);
      const { record } = (await get(runId)).body;
      expect(record).toMatchObject({ state: 'SEALED', digest: expect.stringMatching(/^sha256:[0-9a-f]{64}$/) });
      expect((await server.reap()).sealed).toBe(0);
      expect((await get(runId)).body.record).toEqual(record);
    },
  );

  it('whatever was begun by a transaction that failed just before its commit is rolled back, not left to the next', async () => {
    await server.send('POST', '/v1/runs', { body: R('x', { run_id: 'twice' }) });
    once('cancel.before-commit', () => {
      throw new Error('forced');
    });
    expect((await server.send('POST', '/v1/runs/twice/cancel')).status).toBe(500);
    // Every connection of the pool commits something of its own; what it was given half done would be committed with it.
    await Promise.all(Array.from({ length: 20 }, () => server.send('POST', '/v1/runs/b/cancel')));
    expect((await get('twice')).body.state).toBe('RUNNING');
    expect((await n1!.work()).body).toMatchObject({ run_id: 'twice', run_state: 'SUCCEEDED' });
  });
});
