import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createDatabase, type TestDatabase } from '../support/database.js';
import { type SpawnedServer, spawnServer } from '../support/spawned-server.js';

/** The server of the version before, as it was compiled; it uses the libraries of this one. */
export class VersionBefore {
  readonly #folder = mkdtempSync(join(tmpdir(), 'mediator-before-'));

  constructor() {
    execFileSync('tar', ['-xzf', join(import.meta.dirname, 'version-before.tgz'), '-C', this.#folder]);
    symlinkSync(join(process.cwd(), 'node_modules'), join(this.#folder, 'node_modules'));
  }

  spawn(env: Record<string, string>): SpawnedServer {
    return spawnServer(env, [process.execPath, join(this.#folder, 'dist/src/main.js')]);
  }

  remove(): void {
    rmSync(this.#folder, { recursive: true });
  }
}

/** A database in which nothing is yet, no table either. */
export async function emptyDatabase(): Promise<TestDatabase> {
  const database = await createDatabase();
  await database.sql('DROP SCHEMA public CASCADE');
  await database.sql('CREATE SCHEMA public');
  return database;
}
