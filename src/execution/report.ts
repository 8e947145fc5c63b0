import { Injectable } from '@nestjs/common';
import { judgeReport, type Report } from '../domain/judge-report.js';
import { isOver, type RunState } from '../domain/states.js';
import { type LockedNode, lockNode } from '../fleet/lock-node.sql.js';
import { Database } from '../platform/database/database.js';
import type { Tx } from '../platform/database/queryable.js';
import { Problem } from '../platform/http/problem.js';
import type { Why } from '../queue/why.js';
import { appendEvent } from '../records/append-event.sql.js';
import { drainedEnding } from '../steps/drained-ending.js';
import { endRun } from '../steps/end-run.js';
import { endStep, type StepResult } from '../steps/end-step.sql.js';
import { lockRun } from '../steps/lock-run.sql.js';
import { settle } from '../steps/settle.js';
import { readReported, type ReportedStep } from './read-reported.sql.js';

export interface ReportOf extends Report {
  run_id: string;
  seq: number;
  node_id: string;
  attempt: number;
  nonce: string;
}

export interface Reported {
  step_state: 'DONE' | 'FAILED';
  run_state: RunState;
  whys: Why[];
}

/** No step of this version promises an output, so nothing has been uploaded. */
const NOTHING_UPLOADED: ReadonlySet<string> = new Set();

/** Takes the report of a claimed step, in one transaction: end the step, settle the run, and end it where the node drains. */
@Injectable()
export class ReportResult {
  constructor(private readonly database: Database) {}

  report(report: ReportOf): Promise<Reported> {
    const { run_id, seq, node_id } = report;
    return this.database.transaction('report', async (tx) => {
      const node = await lockNode(tx, node_id);
      const step = (await lockRun(tx, run_id)) && (await readReported(tx, run_id, seq, node_id));
      if (step === undefined) throw new Problem('not_found', `run ${run_id} has no step ${seq}`);
      refuseUnlessHeld(step, report);
      if (step.kind === 'run' && report.error === undefined && report.exit_code === undefined) {
        const fault = { pointer: '/exit_code', detail: 'must be there for a run step that reports no error' };
        throw new Problem('invalid_request', `exit_code ${fault.detail}`, { errors: [fault] });
      }
      const { state, error } = judgeReport(report, step.allow_failure, NOTHING_UPLOADED);
      await endStep(tx, run_id, seq, state, resultOf(report, error));
      await appendEvent(tx, run_id, 'step_ended', { seq, attempt: step.attempt, state, node_id });
      tx.hint('steps');
      tx.hint('runs');
      return { step_state: state, ...(await endWhatIsOver(tx, run_id, node_id, node)) };
    });
  }
}

/** 409 unless the node holds the run by this nonce and has claimed the step in this attempt. */
function refuseUnlessHeld(step: ReportedStep, { node_id, attempt, nonce }: ReportOf): void {
  if (step.nonce !== nonce || isOver(step.run_state)) {
    throw new Problem('stale_lease', `node ${node_id} does not hold the run by this lease: stop the work`);
  }
  if (
    step.run_state !== 'RUNNING' ||
    step.state !== 'CLAIMED' ||
    step.node_id !== node_id ||
    step.attempt !== attempt
  ) {
    throw new Problem(
      'not_claimed',
      `the step is ${step.state} in attempt ${step.attempt}, not claimed by this report's`,
    );
  }
}

/** A node that drains at the boundary has reached it: unless the run has just ended by itself, it is cancelled. */
async function endWhatIsOver(
  tx: Tx,
  runId: string,
  nodeId: string,
  node: LockedNode | undefined,
): Promise<Omit<Reported, 'step_state'>> {
  const settled = await settle(tx, runId, { kind: 'node', name: nodeId });
  if (settled) return { run_state: settled.state, whys: ['result'] };
  if (node?.drain !== 'at-boundary') return { run_state: 'RUNNING', whys: ['result'] };
  await endRun(tx, runId, drainedEnding(nodeId));
  return { run_state: 'CANCELLED', whys: ['result', 'drained'] };
}

function resultOf({ exit_code, produced, error }: Report, judged: string | undefined): StepResult {
  return {
    ...(exit_code !== undefined && { exit_code }),
    ...(produced !== undefined && { produced }),
    ...((error ?? judged) !== undefined && { error: error ?? judged }),
  };
}
