import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createDatabase, type TestDatabase } from '../support/database.js';
import { spawnServer, type SpawnedServer } from '../support/spawned-server.js';

const run = promisify(execFile);

describe('the README', () => {
  let database: TestDatabase;
  let server: SpawnedServer;
  let folder: string;
  beforeAll(async () => {
    database = await createDatabase();
    server = spawnServer({ DATABASE_URL: database.url });
    folder = await mkdtemp(join(tmpdir(), 'mediator-readme-'));
  });
  afterAll(async () => {
    await server.stop();
    await database.drop();
    await rm(folder, { recursive: true, force: true });
  });

  it('shows a session that does what it says', async () => {
    const readme = await readFile('README.md', 'utf8');
    const session = /<!-- session -->\s+```sh\n([\s\S]+?)```/.exec(readme)![1]!;
    expect(session.match(/^.*curl /gm)!.length).toBeGreaterThanOrEqual(10);

    const script = session.replace('http://127.0.0.1:3000', await server.url());
    const { stdout } = await run('bash', ['-eo', 'pipefail', '-c', script], { cwd: folder });

    const lines = stdout.split('\n');
    expect(lines).toEqual(expect.arrayContaining(['201', '202', 'RUNNING', 'manifest.json: OK', 'verdict.json: OK']));
    expect(stdout).toContain('Leased: rpi-7 to run ann-1');
    expect(stdout).toContain("reason: 'BUSY'");
    expect(stdout).toContain("reason: 'succeeded'");
    expect(await database.sql('SELECT * FROM invariants')).toEqual([]);
  });
});
