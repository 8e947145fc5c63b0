/*
 * Runs a command on the oldest PostgreSQL that is supported, as Debian packages it:
 *
 *   node scripts/with-debian-postgres.mjs npm test
 *
 * Takes /usr/lib/postgresql/15, or the oldest newer one there is; where there is none, root installs the package. Makes a
 * cluster of its own in a temporary folder, reachable through a socket in it and by nothing else, gives its address to the
 * command as TEST_DATABASE_URL, and stops and removes it however the command ends. Exits as the command did.
 */
import { spawn, spawnSync } from 'node:child_process';
import { closeSync, chownSync, existsSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';

const PACKAGES = '/usr/lib/postgresql';
const OLDEST = 15;
const SETTINGS = {
  listen_addresses: '',
  max_connections: '200',
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
};

const [command, ...args] = process.argv.slice(2);
if (command === undefined) fail('which command? node scripts/with-debian-postgres.mjs npm test');

const isRoot = process.getuid() === 0;
const binaries = findBinaries() ?? (isRoot ? install() : fail('there is no PostgreSQL in ' + PACKAGES));
const identity = isRoot ? findUser() : {};
const home = makeHome();
let server;
let child;
let interrupted;
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.on(signal, () => {
    interrupted = signal;
    child?.kill(signal);
  });
}
try {
  createCluster();
  await startServer();
  if (interrupted) throw new Error(`ended by ${interrupted}`);
  process.exitCode = await runCommand();
} catch (error) {
  process.stderr.write(`${error.stack ?? error}\n`);
  process.exitCode = 1;
} finally {
  await stopServer();
  rmSync(home, { recursive: true, force: true });
}

function findBinaries() {
  const majors = (existsSync(PACKAGES) ? readdirSync(PACKAGES) : []).map(Number).filter((major) => major >= OLDEST);
  const folders = majors.sort((a, b) => a - b).map((major) => join(PACKAGES, String(major), 'bin'));
  return folders.find((folder) => existsSync(join(folder, 'initdb')) && existsSync(join(folder, 'postgres')));
}

function install() {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  for (const line of [['update'], ['install', '-y', '--no-install-recommends', 'postgresql']]) {
    const { status } = spawnSync('apt-get', line, { env, stdio: ['ignore', 'inherit', 'inherit'] });
    if (status !== 0) fail(`apt-get ${line.join(' ')} failed`);
  }
  return findBinaries() ?? fail(`the package postgresql brought no PostgreSQL ${OLDEST} or newer`);
}

/** PostgreSQL refuses to run as root. */
function findUser() {
  for (const name of ['postgres', 'nobody']) {
    const line = readFileSync('/etc/passwd', 'utf8').match(new RegExp(`^${name}:[^:]*:(\\d+):(\\d+):`, 'm'));
    if (line !== null) return { uid: Number(line[1]), gid: Number(line[2]) };
  }
  return fail('there is neither a user postgres nor nobody');
}

/** A folder of that user alone; the usual place for temporary files may be one that only root reaches. */
function makeHome() {
  for (const parent of new Set([tmpdir(), '/tmp', '/var/tmp'])) {
    const folder = mkdtempSync(join(parent, 'mediator-debian-'));
    if (!isRoot) return folder;
    chownSync(folder, identity.uid, identity.gid);
    if (spawnSync('test', ['-w', folder], { ...identity, cwd: '/' }).status === 0) return folder;
    rmSync(folder, { recursive: true });
  }
  return fail('no temporary folder can be reached by an unprivileged user');
}

function createCluster() {
  const options = ['--username=postgres', '--auth=trust', '--encoding=UTF8', '--locale=C.UTF-8', '--no-sync'];
  const { status, stdout, stderr } = spawnSync(join(binaries, 'initdb'), ['-D', join(home, 'data'), ...options], {
    ...identity,
    cwd: home,
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`initdb failed\n${stdout}${stderr}`);
}

async function startServer() {
  const log = openSync(join(home, 'log'), 'a');
  const settings = Object.entries({ ...SETTINGS, unix_socket_directories: home });
  const postgres = spawn(
    join(binaries, 'postgres'),
    ['-D', join(home, 'data'), ...settings.flatMap(([name, value]) => ['-c', `${name}=${value}`])],
    { ...identity, cwd: home, stdio: ['ignore', log, log], detached: true },
  );
  closeSync(log);
  server = { process: postgres, ended: new Promise((resolve) => postgres.once('exit', () => resolve(true))) };
  for (let left = 600; left > 0; left--) {
    try {
      const client = new pg.Client({ connectionString: address() });
      await client.connect();
      const { rows } = await client.query('SHOW server_version');
      await client.end();
      process.stdout.write(`PostgreSQL ${rows[0].server_version}\n`);
      return;
    } catch {
      if (await Promise.race([server.ended, sleep(100)])) break;
    }
  }
  throw new Error(`PostgreSQL did not start\n${readFileSync(join(home, 'log'), 'utf8')}`);
}

function address() {
  return `postgres://postgres@/postgres?host=${encodeURIComponent(home)}`;
}

function runCommand() {
  return new Promise((resolve, reject) => {
    child = spawn(command, args, { stdio: 'inherit', env: { ...process.env, TEST_DATABASE_URL: address() } });
    child.once('error', reject);
    child.once('exit', (code, signal) => resolve(code ?? 128 + constants.signals[signal]));
  });
}

/** Fast first; a server that does not obey is ended at once, its data is thrown away anyway. */
async function stopServer() {
  if (server === undefined) return;
  for (const signal of ['SIGINT', 'SIGQUIT', 'SIGKILL']) {
    server.process.kill(signal);
    if (await Promise.race([server.ended, sleep(10_000, false, { ref: false })])) return;
  }
}

function fail(text) {
  process.stderr.write(`${text}\n`);
  process.exit(2);
}
