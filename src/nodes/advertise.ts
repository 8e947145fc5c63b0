import { Injectable } from '@nestjs/common';
import { widens } from '../domain/matching/satisfies.js';
import type { Drain } from '../domain/states.js';
import { countFault } from '../fleet/faults.sql.js';
import type { Fleet } from '../fleet/fleet-view.js';
import { type Lease, readLeases, renewLeases } from '../leases/leases.sql.js';
import { Config } from '../platform/config/config.js';
import { Database } from '../platform/database/database.js';
import { Rollback, type Tx } from '../platform/database/queryable.js';
import { Problem } from '../platform/http/problem.js';
import { ReturnRun } from '../queue/return-run.js';
import type { Why } from '../queue/why.js';
import { lockRun } from '../records/runs.sql.js';
import { drainedEnding, endRun, failStep } from '../steps/end-run.js';
import { hasBegun } from '../steps/steps.sql.js';
import {
  hasClaimed,
  readRestarted,
  type AdvertBefore,
  insertNode,
  lockAdvert,
  readHold,
  type NewAdvert,
  type NodeHold,
  storeAdvert,
} from './nodes.sql.js';

export interface Advertised {
  expires_at: Date;
  /** As the node's row has it. */
  drain: Drain;
  hold: NodeHold | null;
  /** A later advert of the same process came first: this one has changed nothing. */
  late: boolean;
  whys: Why[];
  /** Runs that this advert ended. */
  ended: string[];
}

/** Takes an advert, which is the heartbeat too: store, restart detection, drain at a boundary, renewal; one transaction. */
@Injectable()
export class Advertise {
  constructor(
    private readonly database: Database,
    private readonly config: Config,
    private readonly returns: ReturnRun,
  ) {}

  /** Throws stale_instance where the process that speaks was superseded by another. */
  async advertise(advert: NewAdvert): Promise<Advertised> {
    return (await this.#take(advert)) ?? (await this.#take(advert, await this.returns.look()))!;
  }

  /** Undefined, and nothing stored: a run goes back to the queue, and for that the fleet has to be looked at first. */
  #take(advert: NewAdvert, fleet?: Fleet): Promise<Advertised | undefined> {
    const { lifeSeconds } = this.config;
    return this.database.transaction('advert', async (tx) => {
      const isKnown = await tx.ask(lockAdvert(advert.node_id));
      const isNew = !isKnown && (await tx.ask(insertNode(advert.node_id)));
      if (!isKnown && !isNew) await tx.ask(lockAdvert(advert.node_id));
      const stored = await tx.ask(storeAdvert(advert, this.config));
      if (stored.kind === 'superseded') throw superseded(advert);
      if (stored.kind === 'late') return { ...stored, late: true, whys: [], ended: [] };
      const { expires_at, before, leased_run, restarted } = stored;
      // Claims of an older instance that wait are to end, those of a node that was not live look again; a plain heartbeat
      // disturbs nobody.
      if (isNew || before.lapsing || before.instance !== advert.instance) tx.notify('steps');

      const whys = whysOf(isNew ? undefined : before, advert);
      const ended: string[] = [];
      if (leased_run !== null && (restarted || advert.drain === 'at-boundary')) {
        const { why, isOver } = await this.#giveUpRun(tx, leased_run, advert, fleet);
        if (why !== undefined) whys.push(why);
        if (isOver) ended.push(leased_run);
      }
      if (leased_run !== null) tx.send(renewLeases(advert.node_id, lifeSeconds));
      const hold = whys.includes('node-restart') ? await tx.ask(readHold(advert.node_id)) : before.hold;
      return { expires_at, drain: advert.drain, hold, late: false, whys, ended };
    });
  }

  /** Every lease of the node as it is now, that of a run which the wake has promoted included. */
  leasesOf(nodeId: string): Promise<Lease[]> {
    return this.database.ask(readLeases(nodeId));
  }

  /**
   * The run of this node ends where a new instance has lost its step, or where the node drains and no step is in progress; if
   * nothing of it has begun it goes back to the queue then.
   */
  async #giveUpRun(
    tx: Tx,
    runId: string,
    { node_id, instance, drain }: NewAdvert,
    fleet: Fleet | undefined,
  ): Promise<{ why?: Why; isOver: boolean }> {
    const run = await tx.ask(lockRun(runId));
    if (run?.state !== 'RUNNING') return { isOver: false };
    const lost = instance === '' ? [] : await tx.ask(readRestarted(runId, node_id, instance));
    for (const seq of lost) {
      failStep(tx, runId, seq, `node ${node_id} was restarted as instance ${instance}`);
    }
    if (lost.length > 0) {
      const detail = `node ${node_id} was restarted while it ran step ${lost.join(', ')}`;
      const by = { kind: 'node', name: node_id } as const;
      endRun(tx, runId, { state: 'FAILED', verdict: { reason: 'node_restarted', detail, by, checks: [] } });
      countFault(tx, { nodes: [node_id], run_id: runId, kind: 'node_restarted' }, this.config.quarantineAfter);
      return { why: 'node-restart', isOver: true };
    }
    if (drain !== 'at-boundary' || (await tx.ask(hasClaimed(runId, node_id)))) return { isOver: false };
    const begun = await tx.ask(hasBegun(runId));
    if (begun) endRun(tx, runId, drainedEnding(node_id));
    else if (fleet === undefined) throw new Rollback(undefined);
    else await this.returns.back(tx, runId, 'drained', [node_id], fleet);
    return { why: 'drained', isOver: begun };
  }
}

function superseded({ node_id, instance }: NewAdvert): Problem {
  const detail = `another process has advertised node ${node_id} since; instance ${instance} has to stop`;
  return new Problem('stale_instance', detail);
}

/** A node that drains or is held frees nothing, whatever else is new about it. */
function whysOf(before: AdvertBefore | undefined, advert: NewAdvert): Why[] {
  if (advert.drain !== '' || before?.hold) return [];
  const joined =
    before === undefined || before.lapsing || before.revived || widens(before.capabilities, advert.capabilities);
  const lifted = before !== undefined && before.drain !== '';
  return [...(lifted ? ['drain-lift' as const] : []), ...(joined ? ['node-joined' as const] : [])];
}
