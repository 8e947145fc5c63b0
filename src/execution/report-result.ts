import { Injectable } from '@nestjs/common';
import { readUploaded } from '../bodies/outputs.sql.js';
import { isOver, type RunState, type StepState } from '../domain/states.js';
import { judgeResult, type ReportedResult } from '../domain/steps/judge-result.js';
import type { StepNow, StepResult } from '../domain/steps/step-now.js';
import { clearFaults, countFault } from '../fleet/faults.sql.js';
import { type LockedNode, lockNode, lockNodeToChange } from '../fleet/fleet.sql.js';
import { LeaseTerms } from '../leases/lease-terms.js';
import { readNonce } from '../leases/leases.sql.js';
import { Config } from '../platform/config/config.js';
import { Database } from '../platform/database/database.js';
import { Rollback, type Tx } from '../platform/database/queryable.js';
import { Problem } from '../platform/http/problem.js';
import type { Why } from '../queue/why.js';
import { lockRun } from '../records/runs.sql.js';
import { drainedEnding, endRun, settle } from '../steps/end-run.js';
import { finishStep } from '../steps/finish-step.js';
import { readGraph, type LockedRunGraph } from '../steps/graph.sql.js';

export interface ResultOf extends ReportedResult {
  run_id: string;
  seq: number;
  node_id: string;
  attempt: number;
  nonce: string;
}

export interface TakenResult {
  step_state: StepState;
  rolled_back: boolean;
  run_state: RunState;
  whys: Why[];
}

/** Takes the report of a claimed step, in one transaction: judge it, finish the step, settle the run, heed a drain. */
@Injectable()
export class ReportResult {
  constructor(
    private readonly database: Database,
    private readonly terms: LeaseTerms,
    private readonly config: Config,
  ) {}

  /**
   * A report that may change the row of its node, where its faults are counted, locks it for that; to lock it so always would
   * make the reports and claims of one node wait for each other.
   */
  async report(report: ResultOf): Promise<TakenResult> {
    const isFault = report.error !== undefined;
    return (await this.#report(report, isFault)) ?? (await this.#report(report, true))!;
  }

  /** Undefined, and nothing changed: the row of the node would have to be locked to be changed. */
  #report(report: ResultOf, mayChangeNode: boolean): Promise<TakenResult | undefined> {
    const { run_id, seq, node_id } = report;
    return this.database.transaction('report', async (tx) => {
      const [node, locked, run, nonce, outputs] = await tx.ask(
        mayChangeNode ? lockNodeToChange(node_id) : lockNode(node_id),
        lockRun(run_id),
        readGraph(run_id),
        readNonce(run_id, node_id),
        readUploaded(run_id, seq),
      );
      if (locked === undefined || run === undefined) throw new Problem('not_found', `there is no run ${run_id}`);
      const step = run.graph.steps[seq - 1];
      if (step === undefined) throw new Problem('not_found', `run ${run_id} has no step ${seq}`);
      refuseUnlessHeld(locked.state, step, report, nonce);
      refuseWithoutExitCode(step, report);
      if (node?.faulty && !mayChangeNode) throw new Rollback(undefined);
      const uploaded = outputs.get(seq) ?? new Set<string>();
      const finish = judgeResult(report, run.graph.spec(step), step.attempt, uploaded);
      const step_state = await finishStep(tx, run, step, resultOf(report), finish, this.terms);
      if (report.error !== undefined) {
        countFault(tx, { nodes: [node_id], run_id, kind: 'step_failed' }, this.config.quarantineAfter);
      } else if (node?.faulty && step_state === 'DONE') {
        tx.send(clearFaults(node_id));
      }
      const rolled_back = finish.kind === 'again';
      const { run_state, whys } = await endWhatIsOver(tx, run, step_state === 'PENDING', node_id, node);
      // What went round again is cancelled with the rest where the run has ended all the same.
      const cancelled = step_state === 'PENDING' && isOver(run_state);
      return { step_state: cancelled ? 'CANCELLED' : step_state, rolled_back, run_state, whys };
    });
  }
}

/** 409 unless the node holds the run by this nonce and has claimed the step in this attempt. */
function refuseUnlessHeld(
  runState: RunState,
  step: StepNow,
  { node_id, attempt, nonce }: ResultOf,
  held: string | undefined,
): void {
  if (held !== nonce || isOver(runState)) {
    throw new Problem('stale_lease', `node ${node_id} has no lease of the run with this nonce: stop the work`);
  }
  if (runState !== 'RUNNING' || step.state !== 'CLAIMED' || step.node_id !== node_id || step.attempt !== attempt) {
    const detail = `the step is ${step.state} in attempt ${step.attempt}: node ${node_id} has no such claim`;
    throw new Problem('not_claimed', detail);
  }
}

function refuseWithoutExitCode(step: StepNow, report: ResultOf): void {
  if (step.kind !== 'run' || report.error !== undefined || report.exit_code !== undefined) return;
  const fault = { pointer: '/exit_code', detail: 'must be there for a run step that reports no error' };
  throw new Problem('invalid_request', `exit_code ${fault.detail}`, { errors: [fault] });
}

/**
 * A step that goes round again settles nothing. A node that drains at the boundary has reached it all the same: unless
 * the run has just ended by itself, it is cancelled.
 */
async function endWhatIsOver(
  tx: Tx,
  run: LockedRunGraph,
  goesRound: boolean,
  nodeId: string,
  node: LockedNode | undefined,
): Promise<{ run_state: RunState; whys: Why[] }> {
  const settled = goesRound ? undefined : await settle(tx, run, { kind: 'node', name: nodeId });
  // Going round frees nothing, but where a branch outside the loop has changed what may still run.
  const whys: Why[] = goesRound && run.freed.length === 0 ? [] : ['result'];
  if (settled) return { run_state: settled.state, whys };
  if (node?.drain !== 'at-boundary') return { run_state: 'RUNNING', whys };
  endRun(tx, run.run_id, drainedEnding(nodeId));
  return { run_state: 'CANCELLED', whys: [...whys, 'drained'] };
}

function resultOf({ exit_code, produced, error }: ReportedResult): StepResult {
  return {
    ...(exit_code !== undefined && { exit_code }),
    ...(produced !== undefined && { produced }),
    ...(error !== undefined && { error }),
  };
}
