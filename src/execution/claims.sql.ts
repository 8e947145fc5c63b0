import type { StepKind } from '../domain/contract/contract.js';
import { CLAIM_FIELDS } from '../domain/contract/claim-fields.js';
import type { AssignedRole } from '../domain/matching/fleet.js';
import { type Read, read } from '../platform/database/statement.js';
import type { ReadyStep } from '../steps/ready-steps.sql.js';

export interface ClaimRow {
  run_id: string;
  seq: number;
  kind: StepKind;
  attempt: number;
  /** The fields of the contract's step that the claim gives to the node, each as JSON, as it was sent. */
  fields: Record<string, string>;
  assigned: AssignedRole[];
  principal: string;
  nonce: string;
  not_after: Date;
}

/** Everything a node needs to do a step it has claimed; undefined where it holds no lease for it. */
export function readClaim({ run_id, seq }: ReadyStep, nodeId: string): Read<ClaimRow | undefined> {
  return read({
    name: 'execution.read-claim',
    text: `
     SELECT s.run_id, s.seq, s.kind, s.attempt,
            (SELECT json_object_agg(key, value::text) FROM json_each(r.contract->'steps'->(s.seq - 1)) WHERE key = ANY($4)) AS fields,
            r.assigned, r.principal, l.nonce, l.not_after
       FROM steps s JOIN runs r USING (run_id) JOIN leases l ON l.run_id = s.run_id AND l.node_id = s.node_id
      WHERE s.run_id = $1 AND s.seq = $2 AND s.node_id = $3`,
    params: [run_id, seq, nodeId, CLAIM_FIELDS],
    as: (rows: ClaimRow[]) => rows[0],
  });
}
