import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { readTokens } from '../../src/platform/access/read-tokens.js';
import { createDatabase, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { sender } from '../support/http.js';
import { spawnServer, type SpawnedServer } from '../support/spawned-server.js';
import { bearer, TokensFile } from '../support/tokens.js';

// The start of a process takes a second, and more where the machine is busy.
jest.setTimeout(60_000);

describe('the tokens file of a running server', () => {
  let database: TestDatabase;
  let file: TokensFile;
  let server: SpawnedServer;
  let ann: string;
  let status: (token: string) => Promise<number>;
  beforeAll(async () => {
    database = await createDatabase();
    file = new TokensFile();
    ann = file.add({ name: 'ann', role: 'submitter' });
    server = spawnServer({ DATABASE_URL: database.url, MEDIATOR_TOKENS_FILE: file.path, LOG_LEVEL: 'info' });
    const send = sender(await server.url());
    status = async (token) => (await send('GET', '/v1/runs', { headers: bearer(token) })).status;
  });
  afterEach(async () => expect(await database.sql('SELECT * FROM invariants')).toEqual([]));
  afterAll(async () => {
    await server.stop();
    await database.drop();
    file.remove();
  });

  const lines = (level: number): any[] =>
    server
      .output()
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line))
      .filter((line) => line.room === 'tokens' && line.level === level);
  /** Sends SIGHUP, and waits until the log says what came of it. */
  const hangUp = async (level: number): Promise<any> => {
    const before = lines(level).length;
    server.child.kill('SIGHUP');
    return eventually('the log says what came of it', () => lines(level)[before]);
  };
  const [INFO, ERROR] = [30, 50];

  it('is read again on SIGHUP, and holds for the next request', async () => {
    const bob = file.add({ name: 'bob', role: 'operator' });
    expect([await status(ann), await status(bob)]).toEqual([200, 401]);
    expect(await hangUp(INFO)).toMatchObject({ tokens: 2, revoked: 0 });
    expect([await status(ann), await status(bob)]).toEqual([200, 200]);
    file.take('ann');
    expect(await status(ann)).toBe(200);
    expect(await hangUp(INFO)).toMatchObject({ tokens: 1, revoked: 1 });
    expect([await status(ann), await status(bob)]).toEqual([401, 200]);
    ann = file.add({ name: 'ann', role: 'submitter' });
    expect(await hangUp(INFO)).toMatchObject({ tokens: 2, revoked: 0 });
  });

  it.each([
    ['half written', '[{"name":"ann","sha', [expect.stringMatching(/^must be JSON/)]],
    ['empty', '', [expect.stringMatching(/^must be JSON/)]],
    [
      'with two faults',
      [{ name: 'ann', role: 'boss', sha256: 'mdt_by-mistake' }],
      [expect.stringMatching(/^\/0\/role must/), expect.stringMatching(/^\/0\/sha256 must/)],
    ],
  ])('keeps the tokens before where it is %s, and the log says what is wrong', async (_how, content, faults) => {
    file.write(content);
    expect(await hangUp(ERROR)).toMatchObject({
      msg: 'the tokens file has faults; the previous tokens stay in force',
      tokens: 2,
      faults,
    });
    expect(await status(ann)).toBe(200);
    expect(server.output()).not.toContain('by-mistake');
  });
});

describe('npm run token', () => {
  const run = (...args: string[]) =>
    spawnSync(process.execPath, [join(process.cwd(), 'scripts/token.mjs'), ...args], { encoding: 'utf8' });

  it.each([
    [['--name', 'ann', '--role', 'submitter'], { name: 'ann', role: 'submitter' }],
    [['--name=desk', '--role=operator'], { name: 'desk', role: 'operator' }],
    [
      ['--role', 'node', '--node-id', 'rpi-7', '--name', 'bench 2'],
      { name: 'bench 2', role: 'node', node_id: 'rpi-7' },
    ],
  ])('%j makes a token, and an entry that the server takes', (args, entry) => {
    const { status, stdout } = run(...args);
    const [token, line, ...rest] = stdout.split('\n');
    expect({ status, rest }).toEqual({ status: 0, rest: [''] });
    expect(token).toMatch(/^mdt_[A-Za-z0-9_-]{43}$/);
    expect(JSON.parse(line!)).toEqual({ ...entry, sha256: expect.stringMatching(/^[0-9a-f]{64}$/) });
    const hash = createHash('sha256').update(token!).digest();
    expect(readTokens(`[${line}]`)).toMatchObject({ ok: true, tokens: [{ name: entry.name, sha256: hash }] });
    expect(run(...args).stdout).not.toBe(stdout);
  });

  it.each([
    [[], [/--name must/, /--role must/]],
    [['--name', 'a', '--role', 'admin'], [/--role must be one of submitter, node, operator/]],
    [['--name', 'a', '--role', 'node'], [/--node-id must name the node/]],
    [['--name', 'a', '--role', 'node', '--node-id', '-x'], [/node-id/]],
    [['--name', 'a', '--role', 'submitter', '--node-id', 'x'], [/--node-id is for --role node only/]],
    [['--name', 'ü', '--role', 'submitter'], [/--name must/]],
    [['--nam', 'a'], [/--nam/]],
    [['more'], [/more/]],
  ])('%j is refused with 64, and told what would be right', (args, says) => {
    const { status, stdout, stderr } = run(...args);
    expect({ status, stdout }).toEqual({ status: 64, stdout: '' });
    for (const one of says) expect(stderr).toMatch(one);
    expect(stderr).toContain('usage: npm run -s token -- ');
  });

  it('explains itself', () => {
    expect(run('--help')).toMatchObject({ status: 0, stdout: expect.stringMatching(/^usage: /) });
  });
});
