import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Steps that no node begins, and nodes that end one run after the other. */
export class WorkThatDoesNotBegin1790000000017 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(UP);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(DOWN);
  }
}

/** Valid by the next migration: to read all rows for it would keep a server of the version before out for as long. */
const reasons = (...more: string[]): string => `
ALTER TABLE runs
  DROP CONSTRAINT runs_verdict_reason,
  ADD CONSTRAINT runs_verdict_reason CHECK (verdict IS NULL OR coalesce(verdict->>'reason', '') IN (
    'succeeded', 'unsatisfiable', 'too_wide', 'step_failed', 'step_timeout', 'conditions_unmet', 'lease_expired',
    'node_restarted', 'ask_expired', 'cancelled', 'drained'${more.map((reason) => `, '${reason}'`).join('')})) NOT VALID;
`;

const UP = `
${reasons('not_started')}
ALTER TABLE steps ADD COLUMN pending_since timestamptz;
COMMENT ON COLUMN steps.pending_since IS 'its loop went round, or it was skipped and is not any more; null: it is pending since the run got its nodes';
ALTER TABLE nodes
  ADD COLUMN back_at       timestamptz,
  ADD COLUMN faults        text[] NOT NULL DEFAULT '{}',
  ADD COLUMN hold_evidence text[];
COMMENT ON COLUMN nodes.back_at IS 'when it spoke first after an outage or a silence: what it did not do before is not held against it';
COMMENT ON COLUMN nodes.faults IS 'the runs that it has ended by its own doing since it has done a step, the last ones; one run may be there twice';
COMMENT ON COLUMN nodes.hold_evidence IS 'the Mediator itself has taken it out of service, because of these runs; null: it has not';
`;

const DOWN = `
UPDATE runs SET verdict = jsonb_set(verdict::jsonb, '{reason}', '"step_failed"')::json WHERE verdict->>'reason' = 'not_started';
${reasons()}
ALTER TABLE nodes
  DROP COLUMN hold_evidence,
  DROP COLUMN faults,
  DROP COLUMN back_at;
ALTER TABLE steps DROP COLUMN pending_since;
`;
