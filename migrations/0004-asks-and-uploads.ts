import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What a run's steps raise and leave: questions to people, outputs and logs; and the time limits of steps. */
export class AsksAndUploads1790000000004 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(UP);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(DOWN);
  }
}

// Bodies are kept as they come (STORAGE EXTERNAL): most are compressed already, and a range is read without unpacking.
const UP = `
ALTER TABLE steps ADD COLUMN timeout_seconds float8 CHECK (timeout_seconds > 0);
CREATE INDEX steps_timed ON steps (started_at) WHERE state = 'CLAIMED' AND timeout_seconds IS NOT NULL;

CREATE TABLE asks (
  run_id      text COLLATE "C" NOT NULL,
  seq         integer NOT NULL,
  attempt     integer NOT NULL,
  state       text NOT NULL DEFAULT 'OPEN' CHECK (state IN ('OPEN', 'ANSWERED', 'EXPIRED', 'CANCELLED')),
  prompt      text NOT NULL,
  output      text NOT NULL,
  schema      json NOT NULL,
  answerers   text[],
  show        text[] NOT NULL,
  asked_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
  deadline    timestamptz,
  ended_at    timestamptz,
  answer      json,
  answered_by text,
  PRIMARY KEY (run_id, seq, attempt),
  FOREIGN KEY (run_id, seq) REFERENCES steps,
  CONSTRAINT asks_ended CHECK ((state = 'OPEN') = (ended_at IS NULL)),
  CONSTRAINT asks_answered CHECK ((state = 'ANSWERED') = (answer IS NOT NULL AND answered_by IS NOT NULL))
);
CREATE INDEX asks_open ON asks (asked_at, run_id, seq) WHERE state = 'OPEN';
CREATE INDEX asks_due ON asks (deadline) WHERE state = 'OPEN' AND deadline IS NOT NULL;
COMMENT ON COLUMN asks.answerers IS 'null: anybody who may submit';

CREATE TABLE ask_notices (
  run_id    text COLLATE "C" NOT NULL,
  seq       integer NOT NULL,
  attempt   integer NOT NULL,
  raised_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (run_id, seq, attempt)
);
COMMENT ON TABLE ask_notices IS 'questions that somebody is still to be told of; no part of a record';

CREATE TABLE blobs (
  upload_id    bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  run_id       text COLLATE "C" NOT NULL,
  seq          integer NOT NULL,
  attempt      integer NOT NULL,
  name         text COLLATE "C" NOT NULL,
  media_type   text NOT NULL,
  started_at   timestamptz NOT NULL DEFAULT clock_timestamp(),
  published_at timestamptz,
  size         bigint,
  sha256       text CHECK (sha256 ~ '^[0-9a-f]{64}$'),
  FOREIGN KEY (run_id, seq) REFERENCES steps,
  CONSTRAINT blobs_published CHECK ((published_at IS NULL) = (size IS NULL) AND (published_at IS NULL) = (sha256 IS NULL))
);
CREATE INDEX blobs_by_name ON blobs (run_id, name, upload_id) WHERE published_at IS NOT NULL;
CREATE UNIQUE INDEX blobs_one_per_attempt ON blobs (run_id, seq, attempt, name) WHERE published_at IS NOT NULL;
CREATE INDEX blobs_unpublished ON blobs (started_at) WHERE published_at IS NULL;
COMMENT ON TABLE blobs IS 'uploads; one that is not published yet is invisible, and is swept away if it is left over';

CREATE TABLE blob_chunks (
  upload_id bigint NOT NULL REFERENCES blobs ON DELETE CASCADE,
  at        bigint NOT NULL CHECK (at >= 0),
  bytes     bytea NOT NULL,
  PRIMARY KEY (upload_id, at)
);
ALTER TABLE blob_chunks ALTER COLUMN bytes SET STORAGE EXTERNAL;
COMMENT ON COLUMN blob_chunks.at IS 'offset of the first byte';

CREATE TABLE logs (
  run_id  text COLLATE "C" NOT NULL,
  seq     integer NOT NULL,
  attempt integer NOT NULL,
  name    text COLLATE "C" NOT NULL,
  size    bigint NOT NULL DEFAULT 0 CHECK (size >= 0),
  cut     boolean NOT NULL DEFAULT false,
  PRIMARY KEY (run_id, seq, attempt, name),
  FOREIGN KEY (run_id, seq) REFERENCES steps
);
COMMENT ON COLUMN logs.cut IS 'the limit was reached: its last line says so, and nothing more is taken';

CREATE TABLE log_chunks (
  run_id  text COLLATE "C" NOT NULL,
  seq     integer NOT NULL,
  attempt integer NOT NULL,
  name    text COLLATE "C" NOT NULL,
  at      bigint NOT NULL CHECK (at >= 0),
  bytes   bytea NOT NULL,
  PRIMARY KEY (run_id, seq, attempt, name, at),
  FOREIGN KEY (run_id, seq, attempt, name) REFERENCES logs
);
ALTER TABLE log_chunks ALTER COLUMN bytes SET STORAGE EXTERNAL;

CREATE TRIGGER closed_record BEFORE INSERT OR UPDATE OR DELETE ON asks FOR EACH ROW EXECUTE FUNCTION refuse_change_of_closed_record();
CREATE TRIGGER closed_record BEFORE INSERT OR UPDATE OR DELETE ON logs FOR EACH ROW EXECUTE FUNCTION refuse_change_of_closed_record();
CREATE TRIGGER closed_record BEFORE INSERT OR UPDATE OR DELETE ON log_chunks FOR EACH ROW EXECUTE FUNCTION refuse_change_of_closed_record();
-- An upload that was never published is no part of the record: it may be swept away afterwards.
CREATE TRIGGER closed_record_insert BEFORE INSERT ON blobs FOR EACH ROW EXECUTE FUNCTION refuse_change_of_closed_record();
CREATE TRIGGER closed_record BEFORE UPDATE ON blobs FOR EACH ROW EXECUTE FUNCTION refuse_change_of_closed_record();
CREATE TRIGGER closed_record_delete BEFORE DELETE ON blobs FOR EACH ROW
  WHEN (OLD.published_at IS NOT NULL) EXECUTE FUNCTION refuse_change_of_closed_record();

CREATE FUNCTION refuse_change_of_published_chunk() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  upload bigint := CASE TG_OP WHEN 'INSERT' THEN NEW.upload_id ELSE OLD.upload_id END;
  closed text;
BEGIN
  SELECT b.run_id INTO closed FROM blobs b JOIN records r USING (run_id)
   WHERE b.upload_id = upload AND b.published_at IS NOT NULL AND r.closed_at IS NOT NULL
     AND NOT (TG_OP = 'DELETE' AND r.run_id IS NOT DISTINCT FROM current_setting('mediator.purge', true));
  IF closed IS NOT NULL THEN
    RAISE EXCEPTION 'the record of run % is closed: % of % is refused', closed, TG_OP, TG_TABLE_NAME
      USING ERRCODE = 'object_not_in_prerequisite_state';
  END IF;
  RETURN CASE TG_OP WHEN 'DELETE' THEN OLD ELSE NEW END;
END $$;
CREATE TRIGGER closed_record BEFORE INSERT OR UPDATE OR DELETE ON blob_chunks FOR EACH ROW EXECUTE FUNCTION refuse_change_of_published_chunk();
`;

const DOWN = `
DROP TABLE log_chunks, logs, blob_chunks, blobs, ask_notices, asks;
DROP FUNCTION refuse_change_of_published_chunk();
DROP INDEX steps_timed;
ALTER TABLE steps DROP COLUMN timeout_seconds;
`;
