import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import type { EmbeddedServer } from '../../../src/platform/embedded/start-server.js';
import { findPostmaster } from '../../../src/platform/embedded/postmaster.js';
import { startEmbedded } from '../../../src/platform/embedded/start-embedded.js';
import type { TestDatabase } from '../../support/database.js';

/** A PostgreSQL for one test, durable as in production, that can be made to crash. */
export class OwnPostgres {
  private constructor(
    private readonly folder: string,
    private server: EmbeddedServer,
    readonly database: TestDatabase,
  ) {}

  static async start(): Promise<OwnPostgres> {
    const folder = mkdtempSync(join(tmpdir(), 'mediator-crash-'));
    // As root the server runs as somebody else, who has to reach the folder.
    chmodSync(folder, 0o755);
    const server = await startEmbedded({ dataDir: folder });
    const pool = new pg.Pool({ connectionString: server.url, max: 4 });
    pool.on('error', () => undefined);
    return new OwnPostgres(folder, server, {
      url: server.url,
      sql: async (text, params) => (await pool.query(text, params)).rows,
      drop: () => pool.end(),
    });
  }

  /** As `pg_ctl stop -m immediate`: nothing is written any more, and the next start recovers from the log. */
  async crash(): Promise<void> {
    process.kill(findPostmaster(this.server.location)!, 'SIGQUIT');
    await this.server.exited;
    await this.server.stop();
  }

  /** At the same place. */
  async startAgain(): Promise<void> {
    this.server = await startEmbedded({ dataDir: this.folder });
  }

  async close(): Promise<void> {
    await this.database.drop();
    await this.server.stop();
    rmSync(this.folder, { recursive: true });
  }
}
