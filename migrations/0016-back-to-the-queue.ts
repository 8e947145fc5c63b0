import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Runs that a node has left before anything of them began, and wait once more. */
export class BackToTheQueue1790000000016 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(UP);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(DOWN);
  }
}

const UP = `
ALTER TABLE runs ADD COLUMN earlier_waits jsonb NOT NULL DEFAULT '[]';
COMMENT ON COLUMN runs.earlier_waits IS 'how the run waited before it waited last: it has been back in the queue since';
ALTER TABLE steps ADD COLUMN heard boolean NOT NULL DEFAULT false;
COMMENT ON COLUMN steps.heard IS 'who claimed the step has asked for it again: the claim was not lost on a node that had died';
`;

const DOWN = `
ALTER TABLE steps DROP COLUMN heard;
ALTER TABLE runs DROP COLUMN earlier_waits;
`;
