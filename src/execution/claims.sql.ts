import type { StepKind } from '../domain/contract/contract.js';
import type { AssignedRole } from '../domain/matching/fleet.js';
import type { Tx } from '../platform/database/queryable.js';
import type { ReadyStep } from '../steps/ready-steps.sql.js';

export interface ClaimRow {
  run_id: string;
  seq: number;
  id: string;
  kind: StepKind;
  attempt: number;
  uses: string;
  run: string[] | null;
  /** JSON, as it was sent; as is `schema`. */
  agent: string | null;
  env: string[] | null;
  in: string[] | null;
  out: string[] | null;
  schema: string | null;
  timeout_seconds: number | null;
  assigned: AssignedRole[];
  principal: string;
  nonce: string;
  not_after: Date;
}

/** Everything a node needs to do a step it has claimed; undefined where it holds no lease for it. */
export async function readClaim(tx: Tx, { run_id, seq }: ReadyStep, nodeId: string): Promise<ClaimRow | undefined> {
  const { rows } = await tx.query<ClaimRow>(
    `/* execution.read-claim */
     SELECT s.run_id, s.seq, s.id, s.kind, s.attempt, s.uses, spec.run, spec.agent::text AS agent, spec.env,
            spec."in", spec.out, spec.schema::text AS schema, spec.timeout_seconds, r.assigned, r.principal, l.nonce, l.not_after
       FROM steps s JOIN runs r USING (run_id) JOIN leases l ON l.run_id = s.run_id AND l.node_id = s.node_id
      CROSS JOIN LATERAL json_to_record(r.contract->'steps'->(s.seq - 1)) AS spec (
        run json, agent json, env json, "in" json, out json, schema json, timeout_seconds float8)
      WHERE s.run_id = $1 AND s.seq = $2 AND s.node_id = $3`,
    [run_id, seq, nodeId],
  );
  return rows[0];
}
