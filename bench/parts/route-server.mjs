/*
 * The route of a result, without a database behind it: `nest`, the program's own with its guards and validation, whose use
 * case answers at once; or `bare`, Fastify alone with a schema. A process of its own.
 */
import fastify from 'fastify';
import { createApplication } from '../../dist/src/create-application.js';
import { ReportResult } from '../../dist/src/execution/report-result.js';
import { readConfig } from '../../dist/src/platform/config/read-config.js';
import { Lifecycle } from '../../dist/src/platform/lifecycle.js';

const PATH = '/v1/runs/:run_id/steps/:seq/result';
const OUTCOME = { step_state: 'DONE', rolled_back: false, run_state: 'RUNNING' };
const BODY = {
  type: 'object',
  required: ['node_id', 'attempt'],
  properties: {
    node_id: { type: 'string', pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$' },
    attempt: { type: 'integer', minimum: 1 },
    exit_code: { type: 'integer' },
    produced: { type: 'array', maxItems: 1000, items: { type: 'string' } },
    error: { type: 'string', maxLength: 10_000 },
  },
};

async function startNest() {
  const app = await createApplication(readConfig({ PORT: '0', LOG_LEVEL: 'warn' }));
  // It frees nothing and wakes nobody: what is left is what stands before and behind it.
  app.get(ReportResult).report = async () => ({ ...OUTCOME, whys: [] });
  app.get(Lifecycle).markReady();
  await app.listen(0, '127.0.0.1');
  return app.getUrl();
}

function startBare() {
  const server = fastify();
  server.post(PATH, { schema: { body: BODY } }, async ({ params }) => {
    return { run_id: params.run_id, seq: Number(params.seq), ...OUTCOME };
  });
  return server.listen({ host: '127.0.0.1', port: 0 });
}

const url = process.argv[2] === 'nest' ? await startNest() : await startBare();
process.once('SIGTERM', () => process.exit(0));
process.stdout.write(`ready at ${url}\n`);
