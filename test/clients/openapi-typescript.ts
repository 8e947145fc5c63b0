/* A submitter and a node with the types of openapi-typescript: `node openapi-typescript.js <address of the server>`. */
import createClient from 'openapi-fetch';
import type { components, paths } from './client.js';

const client = createClient<paths>({ baseUrl: process.argv[2]! });
const node_id = 'board-1';
const contract: components['schemas']['Contract'] = {
  requires: [{ as: 'board', capability: 'board' }],
  steps: [{ id: 'flash', uses: 'board', run: ['flash', 'image.bin'] }],
};

await client.POST('/v1/nodes', { body: { node_id, instance: 'a', capabilities: [{ capability: 'board' }] } });
const { data: first } = await client.POST('/v1/runs', { body: contract });
const { data: second } = await client.POST('/v1/runs', { body: contract });
if (first === undefined || second === undefined) throw new Error('a run was refused');
const waits = second.state === 'QUEUED' ? second.waiting.reason : undefined;

const { data: claim } = await client.POST('/v1/nodes/{node_id}/claim', {
  params: { path: { node_id }, query: { wait: 10 }, header: { 'Mediator-Instance': 'a' } },
});
if (claim?.kind !== 'run') throw new Error('the node got no program to run');
const ran: string[] = claim.run;
await client.POST('/v1/runs/{run_id}/steps/{seq}/result', {
  params: { path: { run_id: claim.run_id, seq: claim.seq }, header: { 'Mediator-Lease': claim.lease.nonce } },
  body: { node_id, attempt: claim.attempt, exit_code: 0 },
});

const { data: ended } = await client.GET('/v1/runs/{run_id}', { params: { path: { run_id: first.run_id } } });
const verdict = ended?.state === 'SUCCEEDED' ? ended.verdict.reason : undefined;
const codes = ended?.steps.map((step) => (step.kind === 'run' ? step.result?.exit_code : undefined));
const { data: cancelled } = await client.POST('/v1/runs/{run_id}/cancel', {
  params: { path: { run_id: second.run_id } },
  body: {},
});
const over: string | undefined = cancelled?.state === 'CANCELLED' ? cancelled.ended_at : undefined;
const { error } = await client.GET('/v1/runs/{run_id}', { params: { path: { run_id: 'nobody-submitted-it' } } });
const refused: 'not_found' | undefined = error?.code === 'not_found' ? error.code : undefined;

console.log(JSON.stringify({ first: first.state, waits, ran, verdict, codes, over: over !== undefined, refused }));
