import type { Contract } from '../domain/contract/contract.js';
import { kindOf } from '../domain/contract/kind-of.js';
import { needsOf } from '../domain/contract/needs.js';
import type { Tx } from '../platform/database/queryable.js';
import { insertStepRows } from './insert-step-rows.sql.js';

/** Inserts the steps of a run, PENDING and bound to no node: one helper for a run that starts at once and one that waits. */
export async function insertSteps(tx: Tx, runId: string, contract: Contract): Promise<void> {
  const needs = needsOf(contract);
  await insertStepRows(
    tx,
    runId,
    contract.steps.map((step, index) => ({
      seq: index + 1,
      id: step.id,
      kind: kindOf(step),
      uses: step.uses ?? null,
      needs: needs[index] ?? [],
      timeout_seconds: step.timeout_seconds ?? null,
    })),
  );
}
