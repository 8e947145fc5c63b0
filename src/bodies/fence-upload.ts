import { isOver } from '../domain/states.js';
import { refuseUnlessOwnNode } from '../platform/access/may-call.decorator.js';
import type { Tx } from '../platform/database/queryable.js';
import { Problem } from '../platform/http/problem.js';
import { lockRun } from '../records/runs.sql.js';
import { readStepHeld, type Upload } from './fence-upload.sql.js';

/**
 * Keeps out whoever does not do the step: the run must go on, held by this nonce, and the step be claimed, in this
 * attempt, by the node that holds it so. Until the commit nobody changes that. Where an output begins, its name must be the
 * step's own, or nobody's. Gives the attempt, and whether the step promises that output. The run's lock is not
 * shared: uploads that share it would let each other in past whoever wants to end the run, for as long as they come.
 */
export async function fenceUpload(
  tx: Tx,
  { run_id, seq, attempt, nonce, speaker }: Upload,
  output?: string,
): Promise<{ attempt: number; promised: boolean }> {
  const run = await tx.ask(lockRun(run_id));
  if (run === undefined) throw new Problem('not_found', `there is no run ${run_id}`);
  const step = await tx.ask(readStepHeld(run_id, seq, nonce, output));
  if (step === undefined) throw new Problem('not_found', `run ${run_id} has no step ${seq}`);
  // Whose step it is comes before how it stands; a step that has no node yet is nobody's.
  if (step.node_id !== '') refuseUnlessOwnNode(speaker, step.node_id);
  if (isOver(run.state)) throw new Problem('run_over', `run ${run_id} is over: stop the work`);
  if (step.kind === 'ask') throw new Problem('not_promised', 'the step asks a person: it takes no uploads');
  if (step.promised_by === 'other') {
    throw new Problem('not_promised', `another step promises ${output}, and step ${seq} does not`);
  }
  if (step.holder === null) {
    throw new Problem('stale_lease', `no lease of run ${run_id} has this nonce: stop the work`);
  }
  refuseUnlessOwnNode(speaker, step.holder);
  const right = step.state === 'CLAIMED' && step.node_id === step.holder;
  if (!right || (attempt !== undefined && attempt !== step.attempt)) {
    const detail = `the step is ${step.state} in attempt ${step.attempt}: node ${step.holder} has no such claim`;
    throw new Problem('not_claimed', detail);
  }
  return { attempt: step.attempt, promised: step.promised_by === 'this' };
}
