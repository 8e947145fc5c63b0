import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { needs, R, step } from '../../support/contracts.js';
import { eventually } from '../../support/eventually.js';
import { startTestMediator, type TestMediator } from '../../support/mediator.js';
import { everything } from '../../support/stored.js';

const run = promisify(execFile);
/** As long as a run id may be, with every character it may have: its folder does not fit the first header of a tar. */
const LONG = `over.-_:@+${'x'.repeat(190)}`;

describe('the record of a run that is over', () => {
  let server: TestMediator;
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
    server = await startTestMediator();
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
  afterEach(async () => {
    expect(await server.violations()).toEqual([]);
  });
  afterAll(async () => {
    await server.close();
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
      waited: {
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
      },
      grants: [
        { node_id: 'n1', roles: ['x'], why: 'succeeded' },
        { node_id: 'n2', roles: ['y'], why: 'succeeded' },
      ],
    });
    const times = [shown.created_at, holder.ended_at, manifest.waited.promoted_at, shown.ended_at];
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
    const later = await startTestMediator({ database: server.database });
    try {
      const again = Buffer.from(await (await fetch(`${later.url}${path}/record`)).arrayBuffer());
      expect([(await download()).equals(first), again.equals(first)]).toEqual([true, true]);
    } finally {
      await later.stop();
    }
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
