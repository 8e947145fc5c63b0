import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { databaseSuite } from '../support/server-suite.js';

describe('npm run clients', () => {
  const database = databaseSuite();
  const script = join(process.cwd(), 'scripts/clients.mjs');
  const run = (...args: string[]) => {
    const env = { PATH: process.env.PATH, DATABASE_URL: database.url };
    return spawnSync(process.execPath, [script, ...args], { encoding: 'utf8', env });
  };

  it('compiles what hey-api generates strictly, and runs a submitter and a node with it', () => {
    expect(run('hey-api')).toMatchObject({ status: 0, stdout: '…      hey-api\nok     hey-api\n', stderr: '' });
  });

  it('says which generators there are', () => {
    const stderr = 'There is no generator hay; there are hey-api, orval, openapi-typescript.\n';
    expect(run('hay')).toMatchObject({ status: 2, stdout: '', stderr });
  });
});
