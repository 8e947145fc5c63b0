import type { MigrationInterface, QueryRunner } from 'typeorm';

/** From when the time counts for which a silent node is remembered, where nobody was there to be spoken to. */
export class RememberedNodes1790000000014 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(UP);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(DOWN);
  }
}

const UP = `
ALTER TABLE nodes ADD COLUMN remembered_from timestamptz;
COMMENT ON COLUMN nodes.remembered_from IS 'where it is later than expires_at: a silent node is remembered from then on, since there was an outage';
`;

const DOWN = `
ALTER TABLE nodes DROP COLUMN remembered_from;
`;
