import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Nodes that were taken out of service, and nodes that are to be shown no more. */
export class Holds1790000000012 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(UP);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(DOWN);
  }
}

const UP = `
ALTER TABLE nodes
  ADD COLUMN hold_reason  text,
  ADD COLUMN held_by      text,
  ADD COLUMN held_since   timestamptz,
  ADD COLUMN forgotten_at timestamptz,
  ADD CONSTRAINT nodes_held CHECK (
    (held_since IS NULL) = (hold_reason IS NULL) AND (held_since IS NULL) = (held_by IS NULL));
COMMENT ON COLUMN nodes.held_since IS 'since when it is out of service; null: it is not';
COMMENT ON COLUMN nodes.forgotten_at IS 'it is shown to nobody unless it has spoken since: an advert brings it back, whichever version stores it';

-- What is done to a node is an event of no run.
ALTER TABLE events ALTER COLUMN run_id DROP NOT NULL;

-- A server of the version before knows of no holds: what it grants of a held node collides.
CREATE FUNCTION refuse_lease_of_held_node() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT FROM nodes WHERE node_id = NEW.node_id AND held_since IS NOT NULL) THEN
    RETURN NULL;
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER held_node BEFORE INSERT ON leases FOR EACH ROW EXECUTE FUNCTION refuse_lease_of_held_node();
`;

const DOWN = `
DROP TRIGGER held_node ON leases;
DROP FUNCTION refuse_lease_of_held_node();
DELETE FROM events WHERE run_id IS NULL;
ALTER TABLE events ALTER COLUMN run_id SET NOT NULL;
ALTER TABLE nodes
  DROP CONSTRAINT nodes_held,
  DROP COLUMN forgotten_at,
  DROP COLUMN held_since,
  DROP COLUMN held_by,
  DROP COLUMN hold_reason;
`;
