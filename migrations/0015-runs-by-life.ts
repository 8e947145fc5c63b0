import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Which runs existed at a time: those that are over, by their life. */
export class RunsByLife1790000000015 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(UP);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(DOWN);
  }
}

// The lesser of the two: a range that ends before it begins is an error, and a clock that was set back is none of the run's.
const UP = `
CREATE INDEX runs_by_life ON runs USING gist (tstzrange(least(created_at, ended_at), ended_at, '[)'))
 WHERE ended_at IS NOT NULL;
`;

const DOWN = `
DROP INDEX runs_by_life;
`;
