import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * What a sweep looks at, so that it costs what it frees and not what waits: the queue by what its runs want, and the
 * changes of the fleet since it was last looked at.
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
ALTER TABLE runs ADD COLUMN wants text COLLATE "C" NOT NULL DEFAULT '';
COMMENT ON COLUMN runs.wants IS 'one thing that a node must offer to be of use to the run; the empty string: not known, every node may be';
CREATE INDEX runs_queued_by_wants ON runs (wants, signature, created_at, seq) WHERE state = 'QUEUED';

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
ALTER TABLE runs DROP COLUMN wants;
`;
