import type { Condition } from '../domain/contract/contract.js';
import type { JudgedStep } from '../domain/verdict.js';
import type { Tx } from '../platform/database/queryable.js';

export interface Judged {
  steps: JudgedStep[];
  conditions: Condition[];
}

/** What settlement judges: every step of the run as it stands now, and the contract's conditions. */
export async function readJudged(tx: Tx, runId: string): Promise<Judged> {
  const { rows } = await tx.query<Judged>(
    `/* steps.read-judged */
     SELECT coalesce(r.contract->'success_when', '[]') AS conditions,
            (SELECT json_agg(json_build_object('id', id, 'state', state, 'chosen', chosen, 'result', result) ORDER BY seq)
               FROM steps s WHERE s.run_id = r.run_id) AS steps
       FROM runs r WHERE r.run_id = $1`,
    [runId],
  );
  if (rows[0] === undefined) throw new Error(`there is no run ${runId} to settle`);
  return rows[0];
}
