import type { MigrationInterface, QueryRunner } from 'typeorm';
import { INVARIANTS } from './0003-invariants.js';

/** The view `invariants` looks at questions too. */
export class AsksInInvariants1790000000005 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`CREATE OR REPLACE ${INVARIANTS} UNION ALL ${ASKS}`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`CREATE OR REPLACE ${INVARIANTS}`);
  }
}

export const ASKS = `
SELECT 'a question is open exactly while its step is asked', s.run_id, s.id
  FROM steps s
 WHERE (s.state = 'ASKED') <> EXISTS (
         SELECT FROM asks a
          WHERE a.run_id = s.run_id AND a.seq = s.seq AND a.attempt = s.attempt AND a.state = 'OPEN')
UNION ALL
SELECT 'only the attempt under way has an open question', a.run_id, s.id
  FROM asks a JOIN steps s USING (run_id, seq) WHERE a.state = 'OPEN' AND a.attempt <> s.attempt
UNION ALL
SELECT 'a queued run asks nobody', a.run_id, NULL
  FROM asks a JOIN runs r USING (run_id) WHERE r.state = 'QUEUED'
UNION ALL
SELECT 'a run is told of its question only while it is open', n.run_id, NULL
  FROM ask_notices n WHERE NOT EXISTS (
         SELECT FROM asks a WHERE (a.run_id, a.seq, a.attempt, a.state) = (n.run_id, n.seq, n.attempt, 'OPEN'))
`;
