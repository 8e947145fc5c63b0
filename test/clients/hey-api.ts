/* A submitter and a node with the client that @hey-api/openapi-ts generates: `node hey-api.js <address of the server>`. */
import { createClient } from './client/client/index.js';
import { advertiseNode, cancelRun, claimStep, getRun, reportResult, submitRun, type Contract } from './client/index.js';

const client = createClient({ baseUrl: process.argv[2]! });
/** Of each call: where it goes, and that a refusal is thrown. */
const to = { client, throwOnError: true } as const;
const node_id = 'board-1';
const contract: Contract = {
  requires: [{ as: 'board', capability: 'board' }],
  steps: [{ id: 'flash', uses: 'board', run: ['flash', 'image.bin'] }],
};

await advertiseNode({ ...to, body: { node_id, instance: 'a', capabilities: [{ capability: 'board' }] } });
const { data: first } = await submitRun({ ...to, body: contract });
const { data: second } = await submitRun({ ...to, body: contract });
const waits = second.state === 'QUEUED' ? second.waiting.reason : undefined;

const { data: claim } = await claimStep({
  ...to,
  path: { node_id },
  query: { wait: 10 },
  headers: { 'Mediator-Instance': 'a' },
});
if (claim?.kind !== 'run') throw new Error('the node got no program to run');
const ran: string[] = claim.run;
await reportResult({
  ...to,
  path: { run_id: claim.run_id, seq: claim.seq },
  headers: { 'Mediator-Lease': claim.lease.nonce },
  body: { node_id, attempt: claim.attempt, exit_code: 0 },
});

const { data: ended } = await getRun({ ...to, path: { run_id: first.run_id } });
const verdict = ended.state === 'SUCCEEDED' ? ended.verdict.reason : undefined;
const codes = ended.steps.map((step) => (step.kind === 'run' ? step.result?.exit_code : undefined));
const { data: cancelled } = await cancelRun({ ...to, path: { run_id: second.run_id }, body: {} });
const over: string | undefined = cancelled.state === 'CANCELLED' ? cancelled.ended_at : undefined;
const { error } = await getRun({ client, path: { run_id: 'nobody-submitted-it' } });
const refused: 'not_found' | undefined = error?.code === 'not_found' ? error.code : undefined;

console.log(JSON.stringify({ first: first.state, waits, ran, verdict, codes, over: over !== undefined, refused }));
