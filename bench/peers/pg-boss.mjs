/* pg-boss behind a bare Fastify route: `POST /jobs` sends a job. Its maintenance is off, which is in its favour. */
import fastify from 'fastify';
import PgBoss from 'pg-boss';

const boss = new PgBoss({ connectionString: process.env.DATABASE_URL, max: 10, supervise: false, schedule: false });
boss.on('error', (error) => process.stderr.write(`${error.stack}\n`));
await boss.start();
await boss.createQueue('runs');
const server = fastify();
server.post('/jobs', async (request, reply) => {
  const id = await boss.send('runs', request.body);
  return reply.status(201).send({ id });
});
process.once('SIGTERM', () => void server.close().then(() => process.exit(0)));
process.stdout.write(`ready at ${await server.listen({ host: '127.0.0.1', port: 0 })}\n`);
