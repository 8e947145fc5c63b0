import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Who held what when: grants by their time, of all nodes and of one. */
export class GrantsByTime1790000000013 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(UP);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(DOWN);
  }
}

const UP = `
CREATE INDEX grants_by_time ON grants (granted_at, grant_id);
CREATE INDEX grants_by_node ON grants (node_id, granted_at, grant_id);
`;

const DOWN = `
DROP INDEX grants_by_node;
DROP INDEX grants_by_time;
`;
