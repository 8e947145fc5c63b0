import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * What a sweep looks at, so that it costs what it frees and not what waits: the changes of the queue and of the fleet since
 * each was last looked at.
 */
export class QueueHeads1790000000006 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(UP);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(DOWN);
  }
}

const UP = `
ALTER TABLE runs ADD COLUMN alone boolean NOT NULL DEFAULT true;
COMMENT ON COLUMN runs.alone IS 'promoted in a transaction of its own: it has steps that the Mediator does itself, or it is not known';
-- Who asked for a run by what it needs asks the memory now.
DROP INDEX runs_queued_by_signature;

CREATE TABLE queue_changes (
  changed xid8 NOT NULL DEFAULT pg_current_xact_id(),
  run_id  text COLLATE "C" NOT NULL,
  at      timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX queue_changes_by_transaction ON queue_changes (changed);
COMMENT ON TABLE queue_changes IS 'runs that came into the queue, changed in it or left it: who keeps the queue in memory reads what is new since its last snapshot';
COMMENT ON COLUMN queue_changes.run_id IS 'the empty string: all of them';

CREATE FUNCTION queue_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO queue_changes (run_id)
  VALUES (CASE TG_OP WHEN 'TRUNCATE' THEN '' WHEN 'DELETE' THEN OLD.run_id ELSE NEW.run_id END);
  RETURN NULL;
END $$;
-- A run that never waits, and one that has gone, cost nothing.
CREATE TRIGGER queue_entered AFTER INSERT ON runs FOR EACH ROW
  WHEN (NEW.state = 'QUEUED') EXECUTE FUNCTION queue_changed();
CREATE TRIGGER queue_changed AFTER UPDATE ON runs FOR EACH ROW
  WHEN (OLD.state = 'QUEUED' OR NEW.state = 'QUEUED') EXECUTE FUNCTION queue_changed();
CREATE TRIGGER queue_left AFTER DELETE ON runs FOR EACH ROW
  WHEN (OLD.state = 'QUEUED') EXECUTE FUNCTION queue_changed();
CREATE TRIGGER queue_emptied AFTER TRUNCATE ON runs FOR EACH STATEMENT EXECUTE FUNCTION queue_changed();

CREATE TABLE fleet_changes (
  changed xid8 NOT NULL DEFAULT pg_current_xact_id(),
  node_id text COLLATE "C" NOT NULL,
  at      timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX fleet_changes_by_transaction ON fleet_changes (changed);
COMMENT ON TABLE fleet_changes IS 'nodes whose advert or lease was changed: who keeps the fleet in memory reads what is new since its last snapshot';
COMMENT ON COLUMN fleet_changes.node_id IS 'the empty string: all of them';

CREATE FUNCTION fleet_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO fleet_changes (node_id)
  VALUES (CASE TG_OP WHEN 'TRUNCATE' THEN '' WHEN 'DELETE' THEN OLD.node_id ELSE NEW.node_id END);
  RETURN NULL;
END $$;
CREATE FUNCTION refuse(why text) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION '%', why USING ERRCODE = 'MD001';
END $$;
COMMENT ON FUNCTION refuse IS 'ends a transaction that must not happen, from within its statement';

CREATE TRIGGER fleet_changed AFTER INSERT OR UPDATE OR DELETE ON nodes FOR EACH ROW EXECUTE FUNCTION fleet_changed();
CREATE TRIGGER fleet_changed AFTER INSERT OR DELETE ON leases FOR EACH ROW EXECUTE FUNCTION fleet_changed();
CREATE TRIGGER fleet_emptied AFTER TRUNCATE ON nodes FOR EACH STATEMENT EXECUTE FUNCTION fleet_changed();
CREATE TRIGGER fleet_emptied AFTER TRUNCATE ON leases FOR EACH STATEMENT EXECUTE FUNCTION fleet_changed();
`;

const DOWN = `
DROP TRIGGER fleet_emptied ON leases;
DROP TRIGGER fleet_emptied ON nodes;
DROP TRIGGER fleet_changed ON leases;
DROP TRIGGER fleet_changed ON nodes;
DROP FUNCTION fleet_changed();
DROP FUNCTION refuse;
DROP TABLE fleet_changes;
DROP TRIGGER queue_emptied ON runs;
DROP TRIGGER queue_left ON runs;
DROP TRIGGER queue_changed ON runs;
DROP TRIGGER queue_entered ON runs;
DROP FUNCTION queue_changed();
DROP TABLE queue_changes;
CREATE INDEX runs_queued_by_signature ON runs (signature, created_at, seq) WHERE state = 'QUEUED';
ALTER TABLE runs DROP COLUMN alone;
`;
