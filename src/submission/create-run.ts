import { Injectable } from '@nestjs/common';
import type { AssignedRole } from '../domain/matching/fleet.js';
import { LeaseTerms } from '../leases/lease-terms.js';
import { type GrantedNode, grantNewRun } from '../leases/leases.sql.js';
import { Database } from '../platform/database/database.js';
import { refusal } from '../platform/database/refusals.js';
import type { Tx } from '../platform/database/queryable.js';
import { failpoint } from '../platform/failpoints.js';
import type { StoredRun } from '../runs/runs.sql.js';
import { beginRun } from '../steps/begin-run.js';
import { insertRunning, type NewRun } from './insert-run.sql.js';

/** `stored`: the run as it was committed, where that was read on the way. */
export interface Created {
  kind: 'created';
  stored?: StoredRun;
}

/** Creates a run that was matched, RUNNING, with all its leases. */
@Injectable()
export class CreateRun {
  constructor(
    private readonly database: Database,
    private readonly terms: LeaseTerms,
  ) {}

  /**
   * `collided`: another run took a node since it was looked at, and nothing of this one is left. The row is inserted
   * before its nodes are locked: nobody who holds a node can be waiting for a run that is not there yet.
   */
  async create(
    run: NewRun,
    assigned: AssignedRole[],
    nodes: GrantedNode[],
  ): Promise<Created | { kind: 'collided' } | { kind: 'existed' }> {
    const serverSteps = run.serverSteps;
    let inserted: Promise<StoredRun | undefined> = Promise.resolve(undefined);
    const work = async (tx: Tx): Promise<void> => {
      inserted = insertRunning(tx, run, assigned, nodes);
      inserted.catch(() => undefined);
      await failpoint('create.before-grant');
      grantNewRun(tx, run.run_id, nodes, this.terms.ttlSeconds);
      if (serverSteps && !(await inserted)) return;
      const matched = nodes.map((node) => node.node_id);
      await beginRun(tx, run.run_id, { matched, serverSteps, terms: this.terms });
    };
    try {
      await this.database.transaction('create', work);
    } catch (error) {
      if (refusal(error) === 'collided') return { kind: 'collided' };
      throw error;
    }
    const stored = await inserted;
    if (stored === undefined) return { kind: 'existed' };
    // What it has become where its own steps have gone is not known from its row as it was inserted.
    return serverSteps ? { kind: 'created' } : { kind: 'created', stored };
  }
}
