import { sha256 } from '../../support/bytes.js';

/** Something that a caller was told with a 2xx, as a statement that gives a row as long as it is so. */
export interface Pledge {
  /** Only the last one with this name counts. */
  name: string;
  sql: string;
  params: unknown[];
}

interface OfStep {
  run_id: string;
  seq: number;
  attempt: number;
}

function accepted(runId: string): Pledge {
  const sql = 'SELECT 1 FROM runs JOIN records USING (run_id) WHERE run_id = $1';
  return { name: `run ${runId} is there`, sql, params: [runId] };
}

/** It went back to the queue since: what was said of it before counts no more. */
const RETURNED = "EXISTS (SELECT FROM events WHERE run_id = $1 AND kind = 'returned')";

/** It got its nodes: it does not wait again, unless nothing of it had begun. */
function began(runId: string): Pledge {
  const sql = `SELECT 1 FROM runs WHERE run_id = $1 AND (state <> 'QUEUED' AND started_at IS NOT NULL OR ${RETURNED})`;
  return { name: `run ${runId} has begun`, sql, params: [runId] };
}

function over(runId: string, state: string): Pledge {
  const sql = 'SELECT 1 FROM runs WHERE run_id = $1 AND state = $2 AND verdict IS NOT NULL';
  return { name: `run ${runId} is ${state}`, sql, params: [runId, state] };
}

/** What an answer says of a run's state. */
export function inState(runId: string, state: string): Pledge[] {
  if (state === 'QUEUED') return [accepted(runId)];
  return [accepted(runId), state === 'RUNNING' ? began(runId) : over(runId, state)];
}

export function claimed({ run_id, seq, attempt }: OfStep, nodeId: string, instance: string): Pledge {
  const sql = `SELECT 1 WHERE ${RETURNED}
                  OR EXISTS (SELECT FROM attempts WHERE (run_id, seq, attempt, node_id, instance) = ($1, $2, $3, $4, $5))`;
  const params = [run_id, seq, attempt, nodeId, instance];
  return { name: `${nodeId} was given attempt ${attempt} of step ${seq} of ${run_id}`, sql, params };
}

export function reported({ run_id, seq, attempt }: OfStep, state: string, exitCode: number): Pledge {
  const sql = `SELECT 1 FROM attempts WHERE (run_id, seq, attempt, state) = ($1, $2, $3, $4)
                  AND ended_at IS NOT NULL AND (result->>'exit_code')::int = $5`;
  const params = [run_id, seq, attempt, state, exitCode];
  return { name: `attempt ${attempt} of step ${seq} of ${run_id} is ${state}`, sql, params };
}

export function answered(runId: string, seq: number, answer: unknown): Pledge {
  const sql = `SELECT 1 FROM asks WHERE run_id = $1 AND seq = $2 AND state = 'ANSWERED' AND answer::jsonb = $3::jsonb`;
  return { name: `step ${seq} of ${runId} was answered`, sql, params: [runId, seq, JSON.stringify(answer)] };
}

export function blobKept({ run_id, seq, attempt }: OfStep, name: string, bytes: Uint8Array): Pledge {
  const sql = `SELECT 1 FROM blobs b
                WHERE (run_id, seq, attempt, name, b.sha256) = ($1, $2, $3, $4, $5) AND published_at IS NOT NULL
                  AND $5 = (SELECT encode(sha256(string_agg(bytes, '' ORDER BY at)), 'hex')
                              FROM blob_chunks c WHERE c.upload_id = b.upload_id)`;
  return { name: `${name} of ${run_id}, ${seq}.${attempt}`, sql, params: [run_id, seq, attempt, name, sha256(bytes)] };
}

export function logKept({ run_id, seq, attempt }: OfStep, offset: number, bytes: Uint8Array): Pledge {
  const sql = `SELECT 1 FROM log_chunks WHERE (run_id, seq, attempt, name) = ($1, $2, $3, 'step')
               HAVING substring(string_agg(bytes, '' ORDER BY at) FROM $4 + 1 FOR length($5::bytea)) = $5`;
  return {
    name: `log of ${run_id}, ${seq}.${attempt}, at ${offset}`,
    sql,
    params: [run_id, seq, attempt, offset, bytes],
  };
}

/** `reason`: why; undefined: it is in service. */
export function heldFor(nodeId: string, reason?: string): Pledge {
  const sql = 'SELECT 1 FROM nodes WHERE node_id = $1 AND hold_reason IS NOT DISTINCT FROM $2';
  return { name: `whether ${nodeId} is held`, sql, params: [nodeId, reason ?? null] };
}

export function forgotten(nodeId: string): Pledge {
  const sql = 'SELECT 1 FROM nodes WHERE node_id = $1 AND forgotten_at > seen_at';
  return { name: `${nodeId} is forgotten`, sql, params: [nodeId] };
}

export function advertised(nodeId: string, instance: string, drain: string): Pledge {
  const sql = 'SELECT 1 FROM nodes WHERE (node_id, instance, drain) = ($1, $2, $3) AND expires_at > clock_timestamp()';
  return { name: `what ${nodeId} offers`, sql, params: [nodeId, instance, drain] };
}
