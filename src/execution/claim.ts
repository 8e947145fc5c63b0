import { Injectable } from '@nestjs/common';
import { rawJson } from '../domain/json/raw-json.js';
import { type LockedNode, lockNode } from '../fleet/fleet.sql.js';
import { Database } from '../platform/database/database.js';
import { Rollback, type Tx } from '../platform/database/queryable.js';
import { Problem } from '../platform/http/problem.js';
import { lockRun } from '../records/runs.sql.js';
import { claimStep, readClaimable, readHeldSteps, type ReadyStep, writeHeard } from '../steps/ready-steps.sql.js';
import type { Claimed } from './claim.dto.js';
import { type ClaimRow, readClaim } from './claims.sql.js';

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
   * Throws stale_instance where another instance of the node has advertised since, not_found where the node was forgotten.
   * `hasJustAsked`: a claim that waits looks many times, and only with the first look has its node spoken.
   */
  async claim(claimant: Claimant, hasJustAsked: boolean): Promise<Claimed | undefined> {
    const { node_id, instance } = claimant;
    const { ready, unheard, forgotten } = await this.database.ask(readClaimable(node_id, instance));
    if (forgotten) throw new Problem('not_found', `node ${node_id} was forgotten: it has to advertise first`);
    const again = hasJustAsked ? unheard : [];
    if (ready.length === 0 && again.length === 0 && instance === '') return undefined;
    return this.database.transaction('claim', async (tx) => {
      // The node's row is locked first, as everybody does who needs the node; nothing is kept where the claim is refused.
      const node = tx.send(lockNode(node_id));
      for (const step of again) await tx.ask(lockRun(step.run_id), writeHeard(step, node_id, instance));
      const row = (await takeFirst(tx, ready, claimant, node)) ?? (await takeHeld(tx, claimant, node));
      if (claimant.gone.aborted) throw new Rollback(undefined);
      return row && claimOf(row, claimant.node_id);
    });
  }
}

/** The first that can still be claimed; none where the claimant's instance holds one already. */
async function takeFirst(
  tx: Tx,
  candidates: ReadyStep[],
  claimant: Claimant,
  node: () => Promise<LockedNode | undefined>,
): Promise<ClaimRow | undefined> {
  const { node_id, instance } = claimant;
  for (const step of candidates) {
    const [, claimed, row] = await tx.ask(
      lockRun(step.run_id),
      claimStep(step, node_id, instance),
      readClaim(step, node_id),
    );
    refuseStale(await node(), claimant);
    if (!claimed) continue;
    if (row === undefined)
      throw new Error(`node ${node_id} has claimed step ${step.seq} of run ${step.run_id} without a lease`);
    tx.notify('runs');
    return row;
  }
  return undefined;
}

/** The step that the claimant's instance holds already, once more, if any; none where the node is not live. */
async function takeHeld(
  tx: Tx,
  claimant: Claimant,
  node: () => Promise<LockedNode | undefined>,
): Promise<ClaimRow | undefined> {
  refuseStale(await node(), claimant);
  const { node_id, instance } = claimant;
  if (instance === '' || !(await node())?.live) return undefined;
  const [held] = await tx.ask(readHeldSteps(node_id, instance));
  if (held === undefined) return undefined;
  // Asked again under the lock: it may have been taken away.
  const [, [still], row] = await tx.ask(
    lockRun(held.run_id),
    readHeldSteps(node_id, instance),
    readClaim(held, node_id),
  );
  if (still?.run_id !== held.run_id || still.seq !== held.seq || row === undefined) return undefined;
  return row;
}

/** Whether the node advertises as another instance than the one that claims; one that has no name is nobody else. */
export function isStale(advertised: string, claiming: string): boolean {
  return advertised !== '' && claiming !== '' && advertised !== claiming;
}

/** A node that never advertised has no row. */
function refuseStale(node: LockedNode | undefined, { node_id, instance }: Claimant): void {
  if (!isStale(node?.instance ?? '', instance)) return;
  throw new Problem('stale_instance', `node ${node_id} was last advertised by another instance than this one`);
}

function claimOf({ fields: sent, nonce, not_after, ...step }: ClaimRow, nodeId: string): Claimed {
  const fields = Object.entries(sent).map(([key, text]) => [key, valueOf(text)]);
  const lease = { run_id: step.run_id, node_id: nodeId, nonce, not_after: not_after.toISOString() };
  return { ...step, ...Object.fromEntries(fields), lease } as Claimed;
}

/** Objects and arrays go to the node as they were sent. */
function valueOf(text: string): unknown {
  const value: unknown = JSON.parse(text);
  return typeof value === 'object' ? rawJson(text) : value;
}
