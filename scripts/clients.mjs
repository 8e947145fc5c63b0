/*
 * `npm run clients`: generates clients from openapi.json as others do, compiles each strictly together with a program that
 * is a submitter and a node, and runs it against the compiled server. It installs the generators that are no dependency of
 * this project from the npm registry. Arguments choose: `npm run clients -- orval`.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import { FOUND, GENERATORS, generateClient, runProgram } from '../test/clients/generate-client.mjs';

const main = join(dirname(fileURLToPath(import.meta.url)), '../dist/src/main.js');
const names = Object.keys(GENERATORS);
const chosen = process.argv.slice(2);
const unknown = chosen.filter((name) => !names.includes(name));
if (unknown.length > 0) {
  process.stderr.write(`There is no generator ${unknown.join(', ')}; there are ${names.join(', ')}.\n`);
  process.exit(2);
}

let failed = 0;
for (const name of chosen.length > 0 ? chosen : names) {
  const folder = await mkdtemp(join(tmpdir(), 'mediator-client-'));
  // As root the embedded PostgreSQL runs as somebody else, who has to reach its folder.
  await chmod(folder, 0o755);
  process.stdout.write(`…      ${name}\n`);
  try {
    await generateClient(name, folder);
    const found = await withServer(join(folder, 'data'), (url) => runProgram(name, folder, url));
    if (!isDeepStrictEqual(found, FOUND)) throw new Error(`it found ${JSON.stringify(found)}`);
    process.stdout.write(`ok     ${name}\n`);
  } catch (error) {
    failed += 1;
    process.stdout.write(`FAILED ${name}\n${error.message}\n`);
  }
  await rm(folder, { recursive: true, force: true });
}
process.exit(failed === 0 ? 0 : 1);

/** A server of its own for the time of the use, on the database of DATABASE_URL or an embedded one. */
async function withServer(dataDir, use) {
  const env = { ...process.env, PORT: '0', MEDIATOR_DATA_DIR: dataDir };
  const server = spawn(process.execPath, [main], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(server, 'exit');
  try {
    for await (const line of createInterface({ input: server.stdout })) {
      const url = /ready at (http:\/\/[^\s,"]+)/.exec(line)?.[1];
      if (url === undefined) continue;
      server.stdout.resume();
      return await use(url);
    }
    throw new Error('the server ended before it was ready');
  } finally {
    server.kill('SIGTERM');
    await ended;
  }
}
