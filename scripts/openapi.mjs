// `npm run openapi`: writes openapi.json from the compiled program, which needs no database for it. With --check it only
// compares: a document that differs from what the program would serve ends in exit code 1. Another file can be named last.
import 'reflect-metadata';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const [named] = process.argv.slice(2).filter((word) => word !== '--check');
const file = resolve(named ?? join(root, 'openapi.json'));
const compiled = (path) => import(join(root, 'dist/src', path));

if (!existsSync(join(root, 'dist/src/main.js'))) {
  fail('dist/ is not there: compile first, with `npm run build`.');
}
const { createApplication } = await compiled('create-application.js');
const { createOpenApi, renderOpenApi } = await compiled('docs/create-openapi.js');
const { readConfig } = await compiled('platform/config/read-config.js');

const app = await createApplication(readConfig({ LOG_LEVEL: 'error' }));
const text = renderOpenApi(createOpenApi(app));
await app.close();

if (!process.argv.includes('--check')) {
  writeFileSync(file, text);
} else if (!existsSync(file) || readFileSync(file, 'utf8') !== text) {
  fail(
    `${basename(file)} is not what the compiled program serves: run \`npm run build && npm run openapi\` and commit it.`,
  );
}

function fail(sentence) {
  process.stderr.write(`${sentence}\n`);
  process.exit(1);
}
