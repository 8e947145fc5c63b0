import { Injectable } from '@nestjs/common';
import type { AssignedRole } from '../domain/matching/fleet.js';
import { LeaseTerms } from '../leases/lease-terms.js';
import { type GrantedNode, grantNewRun } from '../leases/leases.sql.js';
import { Database } from '../platform/database/database.js';
import type { Tx } from '../platform/database/queryable.js';
import { refusal } from '../platform/database/refusals.js';
import { failpoint } from '../platform/failpoints.js';
import type { StoredRun } from '../runs/runs.sql.js';
import { beginRun } from '../steps/begin-run.js';
import { insertRunning, type NewRun } from './insert-run.sql.js';

/** `stored`: the run as it was committed, where it is known without a further read. */
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
    const work = async (tx: Tx): Promise<() => Promise<StoredRun>> => {
      const inserted = tx.send(insertRunning(run, assigned, nodes));
      await failpoint('create.before-grant');
      tx.send(grantNewRun(run.run_id, nodes, this.terms.ttlSeconds));
      const matched = nodes.map((node) => node.node_id);
      await beginRun(tx, run.run_id, { matched, serverSteps, terms: this.terms });
      return inserted;
    };
    try {
      const inserted = await this.database.transaction('create', work);
      // Where steps of the server have gone on since, the row as it was inserted does not say what the run is now.
      return serverSteps ? { kind: 'created' } : { kind: 'created', stored: await inserted() };
    } catch (error) {
      const why = refusal(error);
      if (why === 'collided' || why === 'existed') return { kind: why };
      throw error;
    }
  }
}
