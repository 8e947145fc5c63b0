/*
 * `npm run schema` writes migrations/schema.sql: what the migrations amount to, read from the catalogue of a database that
 * has just been migrated. With --check it writes nothing and fails where the file says something else.
 * It takes the test database, TEST_DATABASE_URL or an embedded one, and compiles first unless told --no-build.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import setup from '../test/support/global-setup.mjs';
import teardown from '../test/support/global-teardown.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const target = join(root, 'migrations/schema.sql');

const HEAD = `-- What the migrations amount to. Written by \`npm run schema\` from the catalogue; \`npm run schema -- --check\` compares.\n`;

/** The statements that make the migrated schema. */
async function readSchema() {
  await setup();
  try {
    const { MEDIATOR_TEST_ADMIN_URL: url, MEDIATOR_TEST_TEMPLATE: template } = process.env;
    const client = new pg.Client({ connectionString: url.replace(/\/[^/?]*(\?|$)/, `/${template}$1`) });
    await client.connect();
    try {
      return (await client.query(readFileSync(join(root, 'scripts/schema-from-catalogue.sql'), 'utf8'))).rows;
    } finally {
      await client.end();
    }
  } finally {
    await teardown();
  }
}

/** Tables stand apart, what belongs to one beside it. */
function render(rows) {
  let text = HEAD;
  let before;
  for (const { section, text: statement } of rows) {
    const apart = section !== before || statement.startsWith('CREATE TABLE') || statement.startsWith('CREATE OR');
    before = section;
    text += `${apart ? '\n' : ''}${statement}\n`;
  }
  return text;
}

if (!process.argv.includes('--no-build')) {
  const nest = join(root, 'node_modules/@nestjs/cli/bin/nest.js');
  const { status } = spawnSync(process.execPath, [nest, 'build'], { cwd: root, stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}
const rows = await readSchema();
const unwritten = rows.filter(({ text }) => text.startsWith('--?'));
if (unwritten.length > 0) {
  process.stderr.write(
    `scripts/schema-from-catalogue.sql cannot write down:\n${unwritten.map(({ text }) => text).join('\n')}\n`,
  );
  process.exit(1);
}
const schema = render(rows);
if (!process.argv.includes('--check')) {
  writeFileSync(target, schema);
} else {
  const kept = existsSync(target) ? readFileSync(target, 'utf8') : '';
  if (kept !== schema) {
    process.stderr.write(
      `migrations/schema.sql says something else than the migrations; npm run schema\n${differences(kept, schema)}`,
    );
    process.exit(1);
  }
}

function differences(kept, made) {
  const [old, now] = [kept.split('\n'), made.split('\n')];
  const only = (lines, others, sign) =>
    lines.filter((line) => !others.includes(line)).map((line) => `${sign} ${line}\n`);
  return [...only(old, now, '-'), ...only(now, old, '+')].slice(0, 60).join('');
}
