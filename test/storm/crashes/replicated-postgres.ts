import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { chooseLocation } from '../../../src/platform/embedded/choose-location.js';
import { findBinaries, prepareBinaries } from '../../../src/platform/embedded/prepare-binaries.js';
import { startEmbedded } from '../../../src/platform/embedded/start-embedded.js';
import { eventually } from '../../support/eventually.js';

/** What all of them are run with, and by whom. */
interface Ground {
  folder: string;
  postgres: string;
  user: { uid: number; gid: number } | undefined;
}

/** One PostgreSQL: a primary, or a standby that streams from one. */
class Replica {
  #process: ChildProcess | undefined;
  readonly #home: string;
  readonly #pool: pg.Pool;
  readonly url: string;

  constructor(
    private readonly ground: Ground,
    name: string,
  ) {
    this.#home = join(ground.folder, name);
    this.url = `postgres://mediator@/mediator?host=${encodeURIComponent(this.#home)}`;
    // Whatever the database is told, this one may write, and waits for no standby.
    const options = '-c default_transaction_read_only=off -c synchronous_commit=local';
    this.#pool = new pg.Pool({ connectionString: this.url, max: 4, options });
    this.#pool.on('error', () => undefined);
    mkdirSync(this.#home);
    this.#own(this.#home);
  }

  get data(): string {
    return join(this.#home, 'data');
  }

  get connection(): string {
    return `host=${this.#home} port=5432 user=mediator`;
  }

  async sql<Row extends object>(text: string, params?: unknown[]): Promise<Row[]> {
    return (await this.#pool.query<Row>(text, params)).rows;
  }

  async start(): Promise<void> {
    const settings = { listen_addresses: '', unix_socket_directories: this.#home, max_connections: '100' };
    const args = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
    const started = spawn(this.ground.postgres, ['-D', this.data, ...args], {
      cwd: this.#home,
      stdio: 'ignore',
      ...this.ground.user,
    });
    this.#process = started;
    await eventually('PostgreSQL answers', async () => (await this.sql('SELECT 1 AS one')).length === 1, 30);
  }

  /** A copy of a server that goes on meanwhile; it streams from it as soon as it is started. */
  async clone(from: Replica): Promise<void> {
    const client = new pg.Client({ connectionString: from.url });
    await client.connect();
    await client.query("SELECT pg_backup_start('clone', true)");
    copy(from.data, this.data);
    for (const name of ['postmaster.pid', 'postmaster.opts']) rmSync(join(this.data, name), { force: true });
    const { rows } = await client.query<{ labelfile: string }>('SELECT labelfile FROM pg_backup_stop(false)');
    await client.end();
    writeFileSync(join(this.data, 'backup_label'), rows[0]!.labelfile);
    writeFileSync(join(this.data, 'standby.signal'), '');
    writeFileSync(join(this.data, 'postgresql.auto.conf'), `primary_conninfo = '${from.connection}'\n`);
    for (const name of ['backup_label', 'standby.signal', 'postgresql.auto.conf']) this.#own(join(this.data, name));
  }

  /** SIGQUIT: as a crash; SIGINT: an end in order, which breaks all sessions off. */
  async stop(signal: 'SIGQUIT' | 'SIGINT'): Promise<void> {
    const ended = once(this.#process!, 'exit');
    this.#process!.kill(signal);
    await ended;
  }

  async close(): Promise<void> {
    await this.#pool.end();
    if (this.#process?.exitCode === null && this.#process.signalCode === null) await this.stop('SIGQUIT');
    rmSync(this.#home, { recursive: true });
  }

  #own(path: string): void {
    const { user } = this.ground;
    if (user !== undefined) chownSync(path, user.uid, user.gid);
  }
}

/** A primary and a standby that streams from it; a commit is answered when both have it. */
export class ReplicatedPostgres {
  #made = 0;
  standby!: Replica;

  private constructor(
    private readonly ground: Ground,
    public primary: Replica,
  ) {}

  static async start(): Promise<ReplicatedPostgres> {
    const folder = mkdtempSync(join(tmpdir(), 'mediator-replicas-'));
    // As root the servers run as somebody else, who has to reach the folder.
    chmodSync(folder, 0o755);
    const dataDir = join(folder, 'made');
    mkdirSync(dataDir);
    const made = await startEmbedded({ dataDir });
    const location = await chooseLocation(dataDir);
    const binaries = await prepareBinaries(findBinaries(), location, () => undefined);
    const postgres = join(binaries, 'bin', 'postgres');
    await made.stop();
    const { user } = location;
    const ground: Ground = { folder, postgres, user: user && { uid: user.uid, gid: user.gid } };
    const primary = new Replica(ground, 'first');
    copy(made.location, primary.data);
    await primary.start();
    const pair = new ReplicatedPostgres(ground, primary);
    await pair.addStandby();
    return pair;
  }

  async addStandby(): Promise<void> {
    this.standby = new Replica(this.ground, `standby-${(this.#made += 1)}`);
    await this.standby.clone(this.primary);
    await this.standby.start();
    await this.primary.sql("ALTER SYSTEM SET synchronous_standby_names = '*'");
    await this.primary.sql('SELECT pg_reload_conf()');
    await eventually('the standby has all there is', async () => {
      const rows = await this.primary.sql(
        "SELECT FROM pg_stat_replication WHERE sync_state = 'sync' AND state = 'streaming'",
      );
      return rows.length === 1;
    });
  }

  /** The primary is gone for good; the standby is not promoted yet. */
  async losePrimary(): Promise<void> {
    await this.primary.stop('SIGQUIT');
  }

  async promoteStandby(): Promise<void> {
    await this.standby.sql('SELECT pg_promote()');
    const gone = this.primary;
    this.primary = this.standby;
    await gone.close();
  }

  async close(): Promise<void> {
    await this.standby.close();
    if (this.primary !== this.standby) await this.primary.close();
    rmSync(this.ground.folder, { recursive: true });
  }
}

/** With owners, and as a backup may be: a file that goes away meanwhile is made good by the log. */
function copy(from: string, to: string): void {
  const { error, stderr } = spawnSync('cp', ['-a', from, to], { encoding: 'utf8' });
  if (error !== undefined) throw error;
  const faults = stderr.split('\n').filter((line) => line !== '' && !/No such file/.test(line));
  if (faults.length > 0) throw new Error(faults.join('\n'));
}
