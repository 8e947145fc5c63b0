import type { MigrationInterface, QueryRunner } from 'typeorm';
import { INVARIANTS } from './0003-invariants.js';
import { ASKS } from './0005-asks-in-invariants.js';

/** Whose output an upload is, and how many bytes a run stores. */
export class LimitsOfARun1790000000007 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(UP);
    await runner.query(`CREATE OR REPLACE ${INVARIANTS} UNION ALL ${ASKS} UNION ALL ${BYTES}`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`CREATE OR REPLACE ${INVARIANTS} UNION ALL ${ASKS}`);
    await runner.query(DOWN);
  }
}

const UP = `
ALTER TABLE blobs ADD COLUMN promised boolean;
COMMENT ON COLUMN blobs.promised IS 'its step promises the name; false: no step does; null: from before, when it could be another step''s';
CREATE INDEX blobs_unpromised ON blobs (run_id, seq, name) WHERE promised IS FALSE;

CREATE TABLE run_bytes (
  run_id text COLLATE "C" PRIMARY KEY REFERENCES runs,
  bytes  bigint NOT NULL CHECK (bytes >= 0)
);
COMMENT ON TABLE run_bytes IS 'what a run stores in outputs, also those under way, and logs; a row of its own, since uploads count without the lock of the run';
`;

const DOWN = `
DROP TABLE run_bytes;
DROP INDEX blobs_unpromised;
ALTER TABLE blobs DROP COLUMN promised;
`;

const BYTES = `
SELECT 'the bytes of a running run are counted', c.run_id, c.bytes::text
  FROM run_bytes c JOIN runs r USING (run_id)
 WHERE r.state = 'RUNNING'
   AND c.bytes <> (SELECT coalesce(sum(b.size), 0) FROM blobs b WHERE b.run_id = c.run_id AND b.published_at IS NOT NULL)
                + (SELECT coalesce(sum(length(k.bytes)), 0) FROM blobs b JOIN blob_chunks k USING (upload_id)
                    WHERE b.run_id = c.run_id AND b.published_at IS NULL AND b.promised IS NOT NULL)
                + (SELECT coalesce(sum(l.size), 0) FROM logs l WHERE l.run_id = c.run_id)
`;
