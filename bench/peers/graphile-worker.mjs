/* graphile-worker behind a bare Fastify route: `POST /jobs` adds a job. */
import fastify from 'fastify';
import { makeWorkerUtils } from 'graphile-worker';

const utils = await makeWorkerUtils({ connectionString: process.env.DATABASE_URL, maxPoolSize: 10 });
await utils.migrate();
const server = fastify();
server.post('/jobs', async (request, reply) => {
  const { id } = await utils.addJob('runs', request.body);
  return reply.status(201).send({ id });
});
process.once('SIGTERM', () => void server.close().then(() => process.exit(0)));
process.stdout.write(`ready at ${await server.listen({ host: '127.0.0.1', port: 0 })}\n`);
