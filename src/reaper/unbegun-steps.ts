import { Injectable } from '@nestjs/common';
import { THE_SERVER } from '../domain/verdict.js';
import { countFault } from '../fleet/faults.sql.js';
import { lockNodeToChange } from '../fleet/fleet.sql.js';
import { Config } from '../platform/config/config.js';
import { Database } from '../platform/database/database.js';
import { lockRun } from '../records/runs.sql.js';
import { endRun, failStep } from '../steps/end-run.js';
import type { ReaperPart } from './reaper-part.js';
import { findUnbegun, readUnbegun, type Unbegun } from './unbegun-steps.sql.js';

/** Ends a run whose step is ready on a live node that does nothing, for longer than a node may take. A claim that came first wins. */
@Injectable()
export class UnbegunSteps implements ReaperPart<Unbegun> {
  readonly name = 'unbegun';
  readonly wakes = 'reaper';

  constructor(
    private readonly database: Database,
    private readonly config: Config,
  ) {}

  async find(): Promise<Unbegun[]> {
    const { startSeconds } = this.config;
    return startSeconds === 0 ? [] : this.database.ask(findUnbegun(startSeconds));
  }

  reap(unbegun: Unbegun): Promise<boolean> {
    const { run_id, seq, node_id } = unbegun;
    const { startSeconds, quarantineAfter } = this.config;
    return this.database.transaction('end-unbegun', async (tx) => {
      await tx.ask(lockNodeToChange(node_id));
      if ((await tx.ask(lockRun(run_id)))?.state !== 'RUNNING') return false;
      const id = await tx.ask(readUnbegun(unbegun, startSeconds));
      if (id === undefined) return false;
      failStep(tx, run_id, seq, `not begun within ${startSeconds} s`, 'pending');
      const detail = `step ${id} was ready, and node ${node_id}, which did nothing else, did not begin it within ${startSeconds} s`;
      endRun(tx, run_id, {
        state: 'FAILED',
        verdict: { reason: 'not_started', detail, by: THE_SERVER, checks: [] },
      });
      countFault(tx, { nodes: [node_id], run_id, kind: 'not_started' }, quarantineAfter);
      return true;
    });
  }
}
