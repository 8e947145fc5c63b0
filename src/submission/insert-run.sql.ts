import type { Contract } from '../domain/contract/contract.js';
import type { AssignedRole } from '../domain/matching/fleet.js';
import type { Verdict } from '../domain/verdict.js';
import type { Holder } from '../domain/waiting/waiting-role.js';
import type { WaitingReason } from '../domain/waiting/why-waiting.js';
import type { GrantedNode } from '../leases/leases.sql.js';
import { type Write, write } from '../platform/database/statement.js';
import type { Param } from '../platform/sessions/query.js';
import { APPEND_EVENT, type EventKind } from '../records/events.sql.js';
import { OPEN_RECORD } from '../records/records.sql.js';
import { RUN_COLUMNS, type RunRow, STEP_COLUMNS, type StepRow, type StoredRun } from '../runs/runs.sql.js';
import { INSERT_STEPS, stepRows } from '../steps/steps.sql.js';

/** A submission whose contract is valid, with what is derived from it once. */
export interface NewRun {
  run_id: string;
  principal: string;
  contract: Contract;
  /** The contract as it was sent. */
  text: string;
  contract_hash: string;
  signature: string;
  /**
   * It has steps that the server does itself: it is promoted in a transaction of its own. Its column is `runs.alone`, a name
   * that servers of an earlier version share.
   */
  serverSteps: boolean;
  work_id: string | null;
}

/** How the run begins. */
export type Begins =
  | { state: 'RUNNING'; assigned: AssignedRole[]; nodes: GrantedNode[] }
  | { state: 'QUEUED'; reason: WaitingReason; holders: Holder[] }
  | { state: 'FAILED'; verdict: Verdict };

/** Parts of a statement: the run with its open record, its steps and the first line of its history. */
const INSERTED = `
  run AS (
    INSERT INTO runs (run_id, state, principal, contract, contract_hash, work_id, requires, spread, signature, alone,
                      assigned, wait_reason, wait_holders, verdict, created_at, queued_at, started_at, ended_at)
    SELECT $1, $2, $3, $4::json, $5, $6, $4::json->'requires', $7, $8, $9, $10, $11, $12, $13, now.at,
           CASE $2 WHEN 'QUEUED' THEN now.at END, CASE $2 WHEN 'RUNNING' THEN now.at END,
           CASE $2 WHEN 'FAILED' THEN now.at END
      FROM (SELECT clock_timestamp() AS at) AS now
        ON CONFLICT (run_id) DO NOTHING
    RETURNING *),
  given AS (SELECT $14::json AS steps),
  record AS (${OPEN_RECORD} RETURNING *),
  step AS (${INSERT_STEPS} RETURNING *),
  happened AS (SELECT run_id, $15::text AS kind, $16::jsonb AS data FROM run),
  recorded AS (${APPEND_EVENT})`;

/**
 * Inserts the run with its open record, its steps and the first line of its history; false where a run of this id exists.
 * Waits for another transaction that is inserting the same id.
 */
export function insertRun(run: NewRun, begins: Begins): Write<boolean> {
  return write({
    name: 'submission.insert-run',
    with: INSERTED,
    text: 'SELECT FROM run',
    params: valuesOf(run, begins),
    rows: 'any',
    as: (_rows, touched) => touched === 1,
  });
}

/** The same for a run that begins RUNNING; gives it as it is stored then, or refuses with `existed`. */
export function insertRunning(run: NewRun, assigned: AssignedRole[], nodes: GrantedNode[]): Write<StoredRun> {
  return write({
    name: 'submission.insert-running',
    with: INSERTED,
    text: `
     SELECT ${RUN_COLUMNS}, (SELECT json_agg(s ORDER BY s.seq) FROM (SELECT ${STEP_COLUMNS} FROM step) AS s) AS steps
       FROM run r JOIN record c USING (run_id)`,
    params: valuesOf(run, { state: 'RUNNING', assigned, nodes }),
    otherwise: 'existed',
    as: (rows: (RunRow & { steps: StepRow[] })[]) => {
      const { steps, ...row } = rows[0]!;
      return { row, steps };
    },
  });
}

function valuesOf(run: NewRun, begins: Begins): Param[] {
  const assigned = begins.state === 'RUNNING' ? begins.assigned : null;
  return [
    run.run_id,
    begins.state,
    run.principal,
    run.text,
    run.contract_hash,
    run.work_id,
    run.contract.spread ?? false,
    run.signature,
    run.serverSteps,
    assigned && JSON.stringify(assigned),
    begins.state === 'QUEUED' ? begins.reason : null,
    begins.state === 'QUEUED' ? JSON.stringify(begins.holders) : null,
    begins.state === 'FAILED' ? JSON.stringify(begins.verdict) : null,
    JSON.stringify(begins.state === 'FAILED' ? [] : stepRows(run.contract, assigned ?? [])),
    ...firstEvent(begins),
  ];
}

function firstEvent(begins: Begins): [EventKind, string] {
  switch (begins.state) {
    case 'RUNNING':
      return ['granted', JSON.stringify({ nodes: begins.nodes.map((node) => node.node_id) })];
    case 'QUEUED':
      return ['queued', JSON.stringify({ reason: begins.reason })];
    case 'FAILED':
      return ['rejected', JSON.stringify({ reason: begins.verdict.reason })];
  }
}
