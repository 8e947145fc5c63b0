/* A submitter and a node with the client that orval generates: `node orval.js <address of the server>`. */
import { advertiseNode, cancelRun, claimStep, getRun, reportResult, submitRun, type Contract } from './client.js';

// The address of the server is not known when the client is generated: its requests name a path alone.
const send = globalThis.fetch;
globalThis.fetch = (path, options) => send(new URL(path as string, process.argv[2]), options);

const node_id = 'board-1';
const contract: Contract = {
  requires: [{ as: 'board', capability: 'board' }],
  steps: [{ id: 'flash', uses: 'board', run: ['flash', 'image.bin'] }],
};

await advertiseNode({ node_id, instance: 'a', capabilities: [{ capability: 'board' }] });
const first = await submitRun(contract);
const second = await submitRun(contract);
if (first.status !== 201 || second.status !== 202) throw new Error('a run was refused');
const waits = second.data.state === 'QUEUED' ? second.data.waiting.reason : undefined;

const claimed = await claimStep(node_id, { wait: 10 }, { headers: { 'Mediator-Instance': 'a' } });
if (claimed.status !== 200 || claimed.data.kind !== 'run') throw new Error('the node got no program to run');
const claim = claimed.data;
const ran: string[] = claim.run;
await reportResult(
  claim.run_id,
  claim.seq,
  { node_id, attempt: claim.attempt, exit_code: 0 },
  { headers: { 'Mediator-Lease': claim.lease.nonce } },
);

const ended = await getRun(first.data.run_id);
if (ended.status !== 200) throw new Error('the run cannot be read');
const verdict = ended.data.state === 'SUCCEEDED' ? ended.data.verdict.reason : undefined;
const codes = ended.data.steps.map((step) => (step.kind === 'run' ? step.result?.exit_code : undefined));
const cancelled = await cancelRun(second.data.run_id, {});
const over: string | undefined =
  cancelled.status === 200 && cancelled.data.state === 'CANCELLED' ? cancelled.data.ended_at : undefined;
const unknown = await getRun('nobody-submitted-it');
const refused: 'not_found' | undefined = unknown.status === 404 ? unknown.data.code : undefined;

console.log(JSON.stringify({ first: first.data.state, waits, ran, verdict, codes, over: over !== undefined, refused }));
