import { Injectable } from '@nestjs/common';
import { lockNode } from '../fleet/lock-node.sql.js';
import { Database } from '../platform/database/database.js';
import { Rollback, type Tx } from '../platform/database/queryable.js';
import { Problem } from '../platform/http/problem.js';
import { appendEvent } from '../records/append-event.sql.js';
import { lockRun } from '../steps/lock-run.sql.js';
import type { ClaimDto } from './claim.dto.js';
import { claimStep, readHeldSteps } from '../steps/claim-step.sql.js';
import { type ClaimRow, readClaim } from './read-claim.sql.js';
import { readReadySteps, type ReadyStep } from '../steps/ready-steps.sql.js';

export interface Claimant {
  node_id: string;
  /** Empty: it names none, and gets neither redelivery nor restart detection. */
  instance: string;
  /** Its caller is not there any more: what it would be given stays for another claim. */
  gone: AbortSignal;
}

/** Looks once for a step of a node and gives it, in one transaction. */
@Injectable()
export class Claim {
  constructor(private readonly database: Database) {}

  /**
   * A step, or undefined where there is none now. The same instance gets the step it holds already: its answer was lost.
   * Throws stale_instance where another instance of the node has advertised since.
   */
  async claim(claimant: Claimant): Promise<ClaimDto | undefined> {
    const candidates = await readReadySteps(this.database, claimant.node_id);
    if (candidates.length === 0 && claimant.instance === '') return undefined;
    return this.database.transaction('claim', async (tx) => {
      await refuseStale(tx, claimant);
      for (const candidate of [...(await heldBy(tx, claimant)), ...candidates]) {
        const run = await lockRun(tx, candidate.run_id);
        if (run?.state !== 'RUNNING') continue;
        // Asked again under the lock: it may have been taken away, or given to a claim of the same instance.
        const [held] = await heldBy(tx, claimant);
        if (held?.run_id === candidate.run_id) return this.#give(tx, held, claimant, 'step_redelivered');
        if (held !== undefined) continue;
        if (await claimStep(tx, candidate, claimant.node_id, claimant.instance)) {
          return this.#give(tx, candidate, claimant, 'step_claimed');
        }
      }
      return undefined;
    });
  }

  async #give(
    tx: Tx,
    step: ReadyStep,
    { node_id, instance, gone }: Claimant,
    event: 'step_claimed' | 'step_redelivered',
  ): Promise<ClaimDto> {
    const row = await readClaim(tx, step, node_id);
    appendEvent(tx, step.run_id, event, { seq: step.seq, attempt: row.attempt, node_id, instance });
    if (gone.aborted) throw new Rollback(undefined);
    if (event === 'step_claimed') tx.hint('runs');
    return claimOf(row, node_id);
  }
}

/** The step that the claimant's instance holds already, if any. */
async function heldBy(tx: Tx, { node_id, instance }: Claimant): Promise<ReadyStep[]> {
  return instance === '' ? [] : readHeldSteps(tx, node_id, instance);
}

/** Locks the node's row first, as everybody does who needs the node. A node that never advertised has none. */
async function refuseStale(tx: Tx, { node_id, instance }: Claimant): Promise<void> {
  const node = await lockNode(tx, node_id);
  if (node === undefined || node.instance === '' || instance === '' || node.instance === instance) return;
  throw new Problem('stale_instance', `node ${node_id} advertises as another instance than the one that claims`);
}

function claimOf({ spec, nonce, not_after, ...row }: ClaimRow, nodeId: string): ClaimDto {
  const { run, agent, env, in: inputs, out, schema, timeout_seconds } = spec;
  const lease = { run_id: row.run_id, node_id: nodeId, nonce, not_after: not_after.toISOString() };
  return { ...row, run, agent, env, in: inputs, out, schema, timeout_seconds, lease };
}
