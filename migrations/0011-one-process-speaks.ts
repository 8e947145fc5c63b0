import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Which processes have spoken for a node before the one that speaks now, and how far that one has counted its adverts. */
export class OneProcessSpeaks1790000000011 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(UP);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(DOWN);
  }
}

const UP = `
ALTER TABLE nodes
  ADD COLUMN superseded text[] NOT NULL DEFAULT '{}',
  ADD COLUMN seq        bigint CHECK (seq >= 0);
COMMENT ON COLUMN nodes.superseded IS 'instances whose place another has taken, the latest first';
COMMENT ON COLUMN nodes.seq IS 'the highest that the instance has sent with an advert; null: it has sent none';
`;

const DOWN = `
ALTER TABLE nodes
  DROP COLUMN seq,
  DROP COLUMN superseded;
`;
