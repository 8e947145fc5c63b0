import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Reads all runs once to see that their reasons are known; whoever reads and writes them goes on. */
export class ValidReasons1790000000018 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE runs VALIDATE CONSTRAINT runs_verdict_reason');
  }

  async down(): Promise<void> {
    // What is valid may stay so.
  }
}
