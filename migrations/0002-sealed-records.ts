import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * What belongs to a closed record is refused any change. Two doors stay: the seal (the one update of `records` that sets
 * the digest), and the purge, for a transaction that has said `SET LOCAL mediator.purge = '<run_id>'`: it may delete the
 * run's steps, attempts and grants and empty its files, while the run's row, the record's header and its digest stay.
 */
export class SealedRecords1790000000002 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(UP);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(DOWN);
  }
}

const UP = `
CREATE FUNCTION refuse_change_of_closed_record() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  changed text[] := CASE TG_OP WHEN 'INSERT' THEN ARRAY[NEW.run_id]
                               WHEN 'DELETE' THEN ARRAY[OLD.run_id]
                               ELSE ARRAY[OLD.run_id, NEW.run_id] END;
  closed text;
BEGIN
  SELECT r.run_id INTO closed FROM records r
   WHERE r.run_id = ANY (changed) AND r.closed_at IS NOT NULL
     AND NOT (TG_OP = 'DELETE' AND TG_TABLE_NAME <> 'runs'
              AND r.run_id IS NOT DISTINCT FROM current_setting('mediator.purge', true))
   LIMIT 1;
  IF closed IS NOT NULL THEN
    RAISE EXCEPTION 'the record of run % is closed: % of % is refused', closed, TG_OP, TG_TABLE_NAME
      USING ERRCODE = 'object_not_in_prerequisite_state';
  END IF;
  RETURN CASE TG_OP WHEN 'DELETE' THEN OLD ELSE NEW END;
END $$;

CREATE FUNCTION refuse_change_of_record_but_seal() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'UPDATE' AND (NEW.run_id, NEW.opened_at, NEW.closed_at) = (OLD.run_id, OLD.opened_at, OLD.closed_at) THEN
    IF OLD.digest IS NULL AND NEW.digest IS NOT NULL AND NEW.purged_at IS NULL THEN
      RETURN NEW;
    END IF;
    IF OLD.run_id = current_setting('mediator.purge', true) AND OLD.purged_at IS NULL AND NEW.purged_at IS NOT NULL
       AND NEW.files IS NULL AND NEW.sums IS NULL
       AND (NEW.digest, NEW.sealed_at) IS NOT DISTINCT FROM (OLD.digest, OLD.sealed_at) THEN
      RETURN NEW;
    END IF;
  END IF;
  RAISE EXCEPTION 'the record of run % is closed: % of records is refused', OLD.run_id, TG_OP
    USING ERRCODE = 'object_not_in_prerequisite_state';
END $$;

-- A run that is over has its record closed by the same transaction, so the state spares the others the look-up.
CREATE TRIGGER closed_record BEFORE UPDATE OR DELETE ON runs FOR EACH ROW
  WHEN (OLD.ended_at IS NOT NULL) EXECUTE FUNCTION refuse_change_of_closed_record();
CREATE TRIGGER closed_record BEFORE INSERT OR UPDATE OR DELETE ON steps FOR EACH ROW EXECUTE FUNCTION refuse_change_of_closed_record();
CREATE TRIGGER closed_record BEFORE INSERT OR UPDATE OR DELETE ON attempts FOR EACH ROW EXECUTE FUNCTION refuse_change_of_closed_record();
CREATE TRIGGER closed_record BEFORE INSERT OR UPDATE OR DELETE ON grants FOR EACH ROW EXECUTE FUNCTION refuse_change_of_closed_record();
CREATE TRIGGER closed_record BEFORE UPDATE OR DELETE ON records FOR EACH ROW
  WHEN (OLD.closed_at IS NOT NULL) EXECUTE FUNCTION refuse_change_of_record_but_seal();
`;

const DOWN = `
DROP TRIGGER closed_record ON records;
DROP TRIGGER closed_record ON grants;
DROP TRIGGER closed_record ON attempts;
DROP TRIGGER closed_record ON steps;
DROP TRIGGER closed_record ON runs;
DROP FUNCTION refuse_change_of_record_but_seal();
DROP FUNCTION refuse_change_of_closed_record();
`;
