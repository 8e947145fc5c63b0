import { Injectable } from '@nestjs/common';
import type { AssignedRole } from '../domain/matching/fleet.js';
import type { GrantedNode } from '../leases/grant-leases.js';
import { Config } from '../platform/config/config.js';
import { Database } from '../platform/database/database.js';
import { Rollback } from '../platform/database/queryable.js';
import { openRecord } from '../records/open-record.sql.js';
import { beginRun } from '../steps/begin-run.js';
import { termsOf } from '../steps/terms-of.js';
import { insertSteps } from '../steps/insert-steps.js';
import { insertRun, type NewRun } from './insert-run.sql.js';

/** Creates a run that was matched, RUNNING, with all its leases. */
@Injectable()
export class CreateRun {
  constructor(
    private readonly database: Database,
    private readonly config: Config,
  ) {}

  /**
   * `collided`: another run took a node since it was looked at, and nothing of this one is left. The row is inserted
   * before its nodes are locked: nobody who holds a node can be waiting for a run that is not there yet.
   */
  create(run: NewRun, assigned: AssignedRole[], nodes: GrantedNode[]): Promise<'created' | 'collided' | 'existed'> {
    return this.database.transaction<'created' | 'collided' | 'existed'>('create', async (tx) => {
      if (!(await insertRun(tx, run, { state: 'RUNNING', assigned }))) return 'existed';
      await openRecord(tx, run.run_id);
      await insertSteps(tx, run.run_id, run.contract);
      const begun = await beginRun(tx, run.run_id, {
        assigned,
        nodes,
        terms: termsOf(this.config),
        event: { kind: 'granted' },
      });
      if (begun.kind === 'collided') throw new Rollback('collided');
      return 'created';
    });
  }
}
