/*
 * Clients as others generate them from openapi.json: generated into a folder, compiled as strictly as TypeScript can be
 * together with a program that uses them (`<generator>.ts` beside this file), and run against a server.
 */
import { execFile } from 'node:child_process';
import { copyFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const here = dirname(fileURLToPath(import.meta.url));
const root = join(here, '../..');
const document = join(root, 'openapi.json');

/** `packages` are installed into the folder; a generator without any is a dependency of this project. */
export const GENERATORS = {
  'hey-api': {
    packages: [],
    generate: (folder) => [
      join(root, 'node_modules/@hey-api/openapi-ts/bin/run.js'),
      ...['--input', document, '--output', join(folder, 'client'), '--no-log-file', '--silent'],
      ...['--plugins', '@hey-api/client-fetch', '@hey-api/typescript', '@hey-api/sdk'],
    ],
  },
  orval: {
    packages: ['orval@7.13.2'],
    generate: (folder) => [
      join(folder, 'node_modules/orval/dist/bin/orval.js'),
      ...['--input', document, '--output', join(folder, 'client.ts'), '--client', 'fetch', '--mode', 'single'],
    ],
  },
  'openapi-typescript': {
    packages: ['openapi-typescript@7.13.0', 'openapi-fetch@0.17.0', 'typescript@5.9.3'],
    generate: (folder) => [
      join(folder, 'node_modules/openapi-typescript/bin/cli.js'),
      ...[document, '--output', join(folder, 'client.ts')],
    ],
  },
};

/** Installs what the generator needs, generates the client, and compiles it with its program. Throws with what was said. */
export async function generateClient(name, folder) {
  const { packages, generate } = GENERATORS[name];
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }\n');
  if (packages.length > 0) {
    await say('npm', ['install', '--no-audit', '--no-fund', '--no-save', '--ignore-scripts', ...packages], folder);
  }
  await say(process.execPath, generate(folder), folder);
  await copyFile(join(here, `${name}.ts`), join(folder, `${name}.ts`));
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(tsconfig(name)));
  await say(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', folder], folder);
}

/** Runs the program against the server of this address; gives what it found. */
export async function runProgram(name, folder, url) {
  return JSON.parse(await say(process.execPath, [join(folder, 'out', `${name}.js`), url], folder));
}

/** What each program finds on a server that has nothing yet. */
export const FOUND = {
  first: 'RUNNING',
  waits: 'BUSY',
  ran: ['flash', 'image.bin'],
  verdict: 'succeeded',
  codes: [0],
  over: true,
  refused: 'not_found',
};

function tsconfig(name) {
  return {
    compilerOptions: {
      target: 'es2023',
      lib: ['es2023', 'dom', 'dom.iterable'],
      module: 'nodenext',
      strict: true,
      noUncheckedIndexedAccess: true,
      skipLibCheck: true,
      outDir: 'out',
      rootDir: '.',
      types: ['node'],
      typeRoots: [join(root, 'node_modules/@types')],
    },
    files: [`${name}.ts`],
  };
}

async function say(command, args, cwd) {
  try {
    return (await run(command, args, { cwd, maxBuffer: 16 * 1024 * 1024 })).stdout;
  } catch (error) {
    throw new Error(`${command} ${args.join(' ')}\n${error.stdout}${error.stderr}`);
  }
}
