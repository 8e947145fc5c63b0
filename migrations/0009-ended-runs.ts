import type { MigrationInterface, QueryRunner } from 'typeorm';

/** How many runs have ended in each state, kept up as they end: nobody has to count a million of them to know. */
export class EndedRuns1790000000009 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(UP);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(DOWN);
  }
}

const UP = `
CREATE TABLE ended_runs (
  state text PRIMARY KEY,
  runs  bigint NOT NULL
);
COMMENT ON TABLE ended_runs IS 'how many runs have ended so, but for those that ended_runs_news still has';
CREATE TABLE ended_runs_news (
  state text NOT NULL,
  runs  bigint NOT NULL
);
COMMENT ON TABLE ended_runs_news IS 'runs that have ended since the reaper last added them up: an end adds a row and waits for nobody, where a count that all of them write would make each wait for the one before';

CREATE FUNCTION run_ended() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'TRUNCATE' THEN
    DELETE FROM ended_runs;
    DELETE FROM ended_runs_news;
  ELSIF TG_OP = 'DELETE' THEN
    INSERT INTO ended_runs_news (state, runs) VALUES (OLD.state, -1);
  ELSE
    INSERT INTO ended_runs_news (state, runs) VALUES (NEW.state, 1);
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER run_began_over AFTER INSERT ON runs FOR EACH ROW
  WHEN (NEW.ended_at IS NOT NULL) EXECUTE FUNCTION run_ended();
CREATE TRIGGER run_ended AFTER UPDATE ON runs FOR EACH ROW
  WHEN (OLD.ended_at IS NULL AND NEW.ended_at IS NOT NULL) EXECUTE FUNCTION run_ended();
CREATE TRIGGER run_forgotten AFTER DELETE ON runs FOR EACH ROW
  WHEN (OLD.ended_at IS NOT NULL) EXECUTE FUNCTION run_ended();
CREATE TRIGGER runs_emptied AFTER TRUNCATE ON runs FOR EACH STATEMENT EXECUTE FUNCTION run_ended();
-- The triggers have locked the table: nobody ends a run between this count and the commit.
INSERT INTO ended_runs (state, runs) SELECT state, count(*) FROM runs WHERE ended_at IS NOT NULL GROUP BY state;
`;

const DOWN = `
DROP TRIGGER runs_emptied ON runs;
DROP TRIGGER run_forgotten ON runs;
DROP TRIGGER run_ended ON runs;
DROP TRIGGER run_began_over ON runs;
DROP FUNCTION run_ended();
DROP TABLE ended_runs_news;
DROP TABLE ended_runs;
`;
