import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Servers of one database judge each other's silence by the period that each has itself, and compare their settings. A
 * version that knows none of this goes on beside: it leaves the columns NULL, and is judged by the period of who looks.
 */
export class PeriodsOfServers1790000000008 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(UP);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(DOWN);
  }
}

const UP = `
ALTER TABLE servers
  ADD COLUMN renew_seconds double precision,
  ADD COLUMN factor        double precision,
  ADD COLUMN settings      jsonb;
COMMENT ON COLUMN servers.renew_seconds IS 'its renew period, by which others judge its silence; NULL: not known, so they go by their own';
COMMENT ON COLUMN servers.factor IS 'what it multiplies its renew period by: so long its adverts and renewed leases live';
COMMENT ON COLUMN servers.settings IS 'what all servers of a database should agree on, by the name of the variable';
`;

const DOWN = `
ALTER TABLE servers DROP COLUMN renew_seconds, DROP COLUMN factor, DROP COLUMN settings;
`;
