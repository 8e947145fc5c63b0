-- What the migrations amount to. Written by `npm run schema` from the catalogue; `npm run schema -- --check` compares.

CREATE TABLE ask_notices (
  run_id text COLLATE "C" NOT NULL,
  seq integer NOT NULL,
  attempt integer NOT NULL,
  raised_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
  CONSTRAINT ask_notices_pkey PRIMARY KEY (run_id, seq, attempt)
);

CREATE TABLE asks (
  run_id text COLLATE "C" NOT NULL,
  seq integer NOT NULL,
  attempt integer NOT NULL,
  state text DEFAULT 'OPEN'::text NOT NULL,
  prompt text NOT NULL,
  output text NOT NULL,
  schema json NOT NULL,
  answerers text[],
  show text[] NOT NULL,
  asked_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
  deadline timestamp with time zone,
  ended_at timestamp with time zone,
  answer json,
  answered_by text,
  CONSTRAINT asks_pkey PRIMARY KEY (run_id, seq, attempt),
  CONSTRAINT asks_answered CHECK (((state = 'ANSWERED'::text) = ((answer IS NOT NULL) AND (answered_by IS NOT NULL)))),
  CONSTRAINT asks_ended CHECK (((state = 'OPEN'::text) = (ended_at IS NULL))),
  CONSTRAINT asks_state_check CHECK ((state = ANY (ARRAY['OPEN'::text, 'ANSWERED'::text, 'EXPIRED'::text, 'CANCELLED'::text])))
);
CREATE INDEX asks_due ON public.asks USING btree (deadline) WHERE ((state = 'OPEN'::text) AND (deadline IS NOT NULL));
CREATE INDEX asks_open ON public.asks USING btree (asked_at, run_id, seq) WHERE (state = 'OPEN'::text);

CREATE TABLE attempts (
  run_id text COLLATE "C" NOT NULL,
  seq integer NOT NULL,
  attempt integer NOT NULL,
  node_id text COLLATE "C" DEFAULT ''::text NOT NULL,
  instance text DEFAULT ''::text NOT NULL,
  state text NOT NULL,
  started_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
  ended_at timestamp with time zone,
  result json,
  CONSTRAINT attempts_pkey PRIMARY KEY (run_id, seq, attempt),
  CONSTRAINT attempts_ended CHECK (((state = ANY (ARRAY['CLAIMED'::text, 'ASKED'::text])) = (ended_at IS NULL))),
  CONSTRAINT attempts_state_check CHECK ((state = ANY (ARRAY['CLAIMED'::text, 'ASKED'::text, 'DONE'::text, 'FAILED'::text, 'SKIPPED'::text, 'CANCELLED'::text, 'ROLLED_BACK'::text])))
);

CREATE TABLE blob_chunks (
  upload_id bigint NOT NULL,
  at bigint NOT NULL,
  bytes bytea NOT NULL,
  CONSTRAINT blob_chunks_pkey PRIMARY KEY (upload_id, at),
  CONSTRAINT blob_chunks_at_check CHECK ((at >= 0))
);

CREATE TABLE blobs (
  upload_id bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
  run_id text COLLATE "C" NOT NULL,
  seq integer NOT NULL,
  attempt integer NOT NULL,
  name text COLLATE "C" NOT NULL,
  media_type text NOT NULL,
  started_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
  published_at timestamp with time zone,
  size bigint,
  sha256 text,
  promised boolean,
  CONSTRAINT blobs_pkey PRIMARY KEY (upload_id),
  CONSTRAINT blobs_published CHECK ((((published_at IS NULL) = (size IS NULL)) AND ((published_at IS NULL) = (sha256 IS NULL)))),
  CONSTRAINT blobs_sha256_check CHECK ((sha256 ~ '^[0-9a-f]{64}$'::text))
);
CREATE INDEX blobs_by_name ON public.blobs USING btree (run_id, name, upload_id) WHERE (published_at IS NOT NULL);
CREATE UNIQUE INDEX blobs_one_per_attempt ON public.blobs USING btree (run_id, seq, attempt, name) WHERE (published_at IS NOT NULL);
CREATE INDEX blobs_unpromised ON public.blobs USING btree (run_id, seq, name) WHERE (promised IS FALSE);
CREATE INDEX blobs_unpublished ON public.blobs USING btree (started_at) WHERE (published_at IS NULL);

CREATE TABLE ended_runs (
  state text NOT NULL,
  runs bigint NOT NULL,
  CONSTRAINT ended_runs_pkey PRIMARY KEY (state)
);

CREATE TABLE ended_runs_news (
  state text NOT NULL,
  runs bigint NOT NULL
);

CREATE TABLE events (
  id bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
  xid xid8 DEFAULT pg_current_xact_id() NOT NULL,
  run_id text COLLATE "C",
  at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
  kind text NOT NULL,
  data jsonb DEFAULT '{}'::jsonb NOT NULL,
  CONSTRAINT events_pkey PRIMARY KEY (id)
);
CREATE INDEX events_by_run ON public.events USING btree (run_id, id);

CREATE TABLE fleet_changes (
  changed xid8 DEFAULT pg_current_xact_id() NOT NULL,
  node_id text COLLATE "C" NOT NULL,
  at timestamp with time zone DEFAULT clock_timestamp() NOT NULL
);
CREATE INDEX fleet_changes_by_transaction ON public.fleet_changes USING btree (changed);

CREATE TABLE grants (
  grant_id bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
  node_id text COLLATE "C" NOT NULL,
  run_id text COLLATE "C" NOT NULL,
  roles text[] NOT NULL,
  granted_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
  released_at timestamp with time zone,
  why text,
  CONSTRAINT grants_pkey PRIMARY KEY (grant_id),
  CONSTRAINT grants_released CHECK (((released_at IS NULL) = (why IS NULL)))
);
CREATE INDEX grants_by_node ON public.grants USING btree (node_id, granted_at, grant_id);
CREATE INDEX grants_by_run ON public.grants USING btree (run_id);
CREATE INDEX grants_by_time ON public.grants USING btree (granted_at, grant_id);
CREATE UNIQUE INDEX grants_one_open_per_node ON public.grants USING btree (node_id) WHERE (released_at IS NULL);

CREATE TABLE leases (
  node_id text COLLATE "C" NOT NULL,
  run_id text COLLATE "C" NOT NULL,
  not_after timestamp with time zone NOT NULL,
  nonce text DEFAULT (gen_random_uuid())::text NOT NULL,
  roles text[] DEFAULT '{}'::text[] NOT NULL,
  granted_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
  CONSTRAINT leases_pkey PRIMARY KEY (node_id),
  CONSTRAINT leases_not_after_check CHECK (isfinite(not_after))
);
CREATE INDEX leases_by_end ON public.leases USING btree (not_after);
CREATE INDEX leases_by_run ON public.leases USING btree (run_id);

CREATE TABLE log_chunks (
  run_id text COLLATE "C" NOT NULL,
  seq integer NOT NULL,
  attempt integer NOT NULL,
  name text COLLATE "C" NOT NULL,
  at bigint NOT NULL,
  bytes bytea NOT NULL,
  CONSTRAINT log_chunks_pkey PRIMARY KEY (run_id, seq, attempt, name, at),
  CONSTRAINT log_chunks_at_check CHECK ((at >= 0))
);

CREATE TABLE logs (
  run_id text COLLATE "C" NOT NULL,
  seq integer NOT NULL,
  attempt integer NOT NULL,
  name text COLLATE "C" NOT NULL,
  size bigint DEFAULT 0 NOT NULL,
  cut boolean DEFAULT false NOT NULL,
  CONSTRAINT logs_pkey PRIMARY KEY (run_id, seq, attempt, name),
  CONSTRAINT logs_size_check CHECK ((size >= 0))
);

CREATE TABLE nodes (
  node_id text COLLATE "C" NOT NULL,
  label text NOT NULL,
  instance text DEFAULT ''::text NOT NULL,
  drain text DEFAULT ''::text NOT NULL,
  capabilities jsonb NOT NULL,
  offer_rev bigint DEFAULT 1 NOT NULL,
  revived boolean DEFAULT false NOT NULL,
  seen_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
  expires_at timestamp with time zone NOT NULL,
  superseded text[] DEFAULT '{}'::text[] NOT NULL,
  seq bigint,
  hold_reason text,
  held_by text,
  held_since timestamp with time zone,
  forgotten_at timestamp with time zone,
  remembered_from timestamp with time zone,
  back_at timestamp with time zone,
  faults text[] DEFAULT '{}'::text[] NOT NULL,
  hold_evidence text[],
  CONSTRAINT nodes_pkey PRIMARY KEY (node_id),
  CONSTRAINT nodes_capabilities_check CHECK ((jsonb_typeof(capabilities) = 'array'::text)),
  CONSTRAINT nodes_drain_check CHECK ((drain = ANY (ARRAY[''::text, 'graceful'::text, 'at-boundary'::text]))),
  CONSTRAINT nodes_held CHECK ((((held_since IS NULL) = (hold_reason IS NULL)) AND ((held_since IS NULL) = (held_by IS NULL)))),
  CONSTRAINT nodes_node_id_check CHECK ((node_id <> ''::text)),
  CONSTRAINT nodes_seq_check CHECK ((seq >= 0))
);

CREATE TABLE queue_changes (
  changed xid8 DEFAULT pg_current_xact_id() NOT NULL,
  run_id text COLLATE "C" NOT NULL,
  at timestamp with time zone DEFAULT clock_timestamp() NOT NULL
);
CREATE INDEX queue_changes_by_transaction ON public.queue_changes USING btree (changed);

CREATE TABLE records (
  run_id text COLLATE "C" NOT NULL,
  opened_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
  closed_at timestamp with time zone,
  sealed_at timestamp with time zone,
  files json,
  sums text,
  digest text,
  purged_at timestamp with time zone,
  CONSTRAINT records_pkey PRIMARY KEY (run_id),
  CONSTRAINT records_digest_check CHECK ((digest ~ '^sha256:[0-9a-f]{64}$'::text)),
  CONSTRAINT records_sealed CHECK ((((digest IS NULL) = (sealed_at IS NULL)) AND ((digest IS NULL) OR (closed_at IS NOT NULL)))),
  CONSTRAINT records_whole CHECK ((((digest IS NOT NULL) AND (purged_at IS NULL)) = ((files IS NOT NULL) AND (sums IS NOT NULL))))
);
CREATE INDEX records_unsealed ON public.records USING btree (closed_at) WHERE ((digest IS NULL) AND (closed_at IS NOT NULL));

CREATE TABLE run_bytes (
  run_id text COLLATE "C" NOT NULL,
  bytes bigint NOT NULL,
  CONSTRAINT run_bytes_pkey PRIMARY KEY (run_id),
  CONSTRAINT run_bytes_bytes_check CHECK ((bytes >= 0))
);

CREATE TABLE runs (
  run_id text COLLATE "C" NOT NULL,
  seq bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
  state text NOT NULL,
  version bigint DEFAULT 1 NOT NULL,
  principal text NOT NULL,
  contract json NOT NULL,
  contract_hash text NOT NULL,
  work_id text,
  requires json NOT NULL,
  spread boolean NOT NULL,
  signature text NOT NULL,
  assigned json,
  queued_at timestamp with time zone,
  wait_reason text,
  wait_holders json,
  promoted_at timestamp with time zone,
  promoted_whys text[],
  verdict json,
  created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
  started_at timestamp with time zone,
  ended_at timestamp with time zone,
  alone boolean DEFAULT true NOT NULL,
  earlier_waits jsonb DEFAULT '[]'::jsonb NOT NULL,
  CONSTRAINT runs_pkey PRIMARY KEY (run_id),
  CONSTRAINT runs_seq_key UNIQUE (seq),
  CONSTRAINT runs_assigned CHECK (((assigned IS NULL) OR (json_typeof(assigned) = 'array'::text))),
  CONSTRAINT runs_contract_hash_check CHECK ((contract_hash ~ '^[0-9a-f]{64}$'::text)),
  CONSTRAINT runs_over CHECK (((state = ANY (ARRAY['SUCCEEDED'::text, 'FAILED'::text, 'CANCELLED'::text])) = (ended_at IS NOT NULL))),
  CONSTRAINT runs_promoted CHECK (((promoted_at IS NULL) OR (queued_at IS NOT NULL))),
  CONSTRAINT runs_queued CHECK (((state <> 'QUEUED'::text) OR ((assigned IS NULL) AND (started_at IS NULL) AND (queued_at IS NOT NULL)))),
  CONSTRAINT runs_run_id_check CHECK ((run_id <> ''::text)),
  CONSTRAINT runs_running CHECK (((state <> 'RUNNING'::text) OR ((assigned IS NOT NULL) AND (started_at IS NOT NULL)))),
  CONSTRAINT runs_state_check CHECK ((state = ANY (ARRAY['QUEUED'::text, 'RUNNING'::text, 'SUCCEEDED'::text, 'FAILED'::text, 'CANCELLED'::text]))),
  CONSTRAINT runs_verdict CHECK (((verdict IS NOT NULL) = (ended_at IS NOT NULL))),
  CONSTRAINT runs_verdict_fits CHECK ((((state = 'SUCCEEDED'::text) = (COALESCE((verdict ->> 'reason'::text), ''::text) = 'succeeded'::text)) AND ((state = 'CANCELLED'::text) = (COALESCE((verdict ->> 'reason'::text), ''::text) = ANY (ARRAY['cancelled'::text, 'drained'::text]))))),
  CONSTRAINT runs_verdict_reason CHECK (((verdict IS NULL) OR (COALESCE((verdict ->> 'reason'::text), ''::text) = ANY (ARRAY['succeeded'::text, 'unsatisfiable'::text, 'too_wide'::text, 'step_failed'::text, 'step_timeout'::text, 'conditions_unmet'::text, 'lease_expired'::text, 'node_restarted'::text, 'ask_expired'::text, 'cancelled'::text, 'drained'::text, 'not_started'::text])))),
  CONSTRAINT runs_wait_reason_check CHECK ((wait_reason = ANY (ARRAY['OFFLINE'::text, 'TOO_WIDE'::text, 'DRAINING'::text, 'BUSY'::text]))),
  CONSTRAINT runs_waited CHECK (((queued_at IS NULL) = (wait_reason IS NULL)))
);
CREATE INDEX runs_by_age ON public.runs USING btree (created_at, seq);
CREATE INDEX runs_by_life ON public.runs USING gist (tstzrange(LEAST(created_at, ended_at), ended_at, '[)'::text)) WHERE (ended_at IS NOT NULL);
CREATE INDEX runs_by_state ON public.runs USING btree (state, created_at, seq);
CREATE INDEX runs_by_work ON public.runs USING btree (work_id, created_at, seq) WHERE (work_id IS NOT NULL);

CREATE TABLE servers (
  server_id uuid NOT NULL,
  started_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
  seen_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
  stopped_at timestamp with time zone,
  renew_seconds double precision,
  factor double precision,
  settings jsonb,
  CONSTRAINT servers_pkey PRIMARY KEY (server_id)
);

CREATE TABLE steps (
  run_id text COLLATE "C" NOT NULL,
  seq integer NOT NULL,
  id text COLLATE "C" NOT NULL,
  kind text NOT NULL,
  uses text COLLATE "C",
  node_id text COLLATE "C" DEFAULT ''::text NOT NULL,
  state text DEFAULT 'PENDING'::text NOT NULL,
  needs text[] NOT NULL,
  attempt integer DEFAULT 1 NOT NULL,
  chosen boolean DEFAULT false NOT NULL,
  instance text DEFAULT ''::text NOT NULL,
  started_at timestamp with time zone,
  ended_at timestamp with time zone,
  result json,
  timeout_seconds double precision,
  heard boolean DEFAULT false NOT NULL,
  pending_since timestamp with time zone,
  CONSTRAINT steps_pkey PRIMARY KEY (run_id, seq),
  CONSTRAINT steps_run_id_id_key UNIQUE (run_id, id),
  CONSTRAINT steps_asked CHECK (((state <> 'ASKED'::text) OR (kind = 'ask'::text))),
  CONSTRAINT steps_attempt_check CHECK ((attempt >= 1)),
  CONSTRAINT steps_claimed CHECK (((state <> 'CLAIMED'::text) OR ((node_id <> ''::text) AND (started_at IS NOT NULL)))),
  CONSTRAINT steps_ended CHECK (((state = ANY (ARRAY['DONE'::text, 'FAILED'::text, 'SKIPPED'::text, 'CANCELLED'::text])) = (ended_at IS NOT NULL))),
  CONSTRAINT steps_kind_check CHECK ((kind = ANY (ARRAY['run'::text, 'agent'::text, 'acquire'::text, 'ask'::text]))),
  CONSTRAINT steps_seq_check CHECK ((seq >= 1)),
  CONSTRAINT steps_state_check CHECK ((state = ANY (ARRAY['PENDING'::text, 'CLAIMED'::text, 'ASKED'::text, 'DONE'::text, 'FAILED'::text, 'SKIPPED'::text, 'CANCELLED'::text]))),
  CONSTRAINT steps_timeout_seconds_check CHECK ((timeout_seconds > (0)::double precision)),
  CONSTRAINT steps_uses CHECK (((kind = ANY (ARRAY['run'::text, 'agent'::text])) = (uses IS NOT NULL)))
);
CREATE INDEX steps_of_node ON public.steps USING btree (node_id, run_id, seq) WHERE ((node_id <> ''::text) AND (state = ANY (ARRAY['PENDING'::text, 'CLAIMED'::text])));
CREATE UNIQUE INDEX steps_one_per_instance ON public.steps USING btree (node_id, instance) WHERE ((state = 'CLAIMED'::text) AND (instance <> ''::text));
CREATE INDEX steps_timed ON public.steps USING btree (started_at) WHERE ((state = 'CLAIMED'::text) AND (timeout_seconds IS NOT NULL));

ALTER TABLE asks ADD CONSTRAINT asks_run_id_seq_fkey FOREIGN KEY (run_id, seq) REFERENCES steps(run_id, seq);
ALTER TABLE attempts ADD CONSTRAINT attempts_run_id_seq_fkey FOREIGN KEY (run_id, seq) REFERENCES steps(run_id, seq);
ALTER TABLE blob_chunks ADD CONSTRAINT blob_chunks_upload_id_fkey FOREIGN KEY (upload_id) REFERENCES blobs(upload_id) ON DELETE CASCADE;
ALTER TABLE blobs ADD CONSTRAINT blobs_run_id_seq_fkey FOREIGN KEY (run_id, seq) REFERENCES steps(run_id, seq);
ALTER TABLE events ADD CONSTRAINT events_run_id_fkey FOREIGN KEY (run_id) REFERENCES runs(run_id);
ALTER TABLE grants ADD CONSTRAINT grants_node_id_fkey FOREIGN KEY (node_id) REFERENCES nodes(node_id);
ALTER TABLE grants ADD CONSTRAINT grants_run_id_fkey FOREIGN KEY (run_id) REFERENCES runs(run_id);
ALTER TABLE leases ADD CONSTRAINT leases_node_id_fkey FOREIGN KEY (node_id) REFERENCES nodes(node_id);
ALTER TABLE leases ADD CONSTRAINT leases_run_id_fkey FOREIGN KEY (run_id) REFERENCES runs(run_id);
ALTER TABLE log_chunks ADD CONSTRAINT log_chunks_run_id_seq_attempt_name_fkey FOREIGN KEY (run_id, seq, attempt, name) REFERENCES logs(run_id, seq, attempt, name);
ALTER TABLE logs ADD CONSTRAINT logs_run_id_seq_fkey FOREIGN KEY (run_id, seq) REFERENCES steps(run_id, seq);
ALTER TABLE records ADD CONSTRAINT records_run_id_fkey FOREIGN KEY (run_id) REFERENCES runs(run_id);
ALTER TABLE run_bytes ADD CONSTRAINT run_bytes_run_id_fkey FOREIGN KEY (run_id) REFERENCES runs(run_id);
ALTER TABLE steps ADD CONSTRAINT steps_run_id_fkey FOREIGN KEY (run_id) REFERENCES runs(run_id);

CREATE OR REPLACE FUNCTION public.fleet_changed()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  INSERT INTO fleet_changes (node_id)
  VALUES (CASE TG_OP WHEN 'TRUNCATE' THEN '' WHEN 'DELETE' THEN OLD.node_id ELSE NEW.node_id END);
  RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION public.queue_changed()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  INSERT INTO queue_changes (run_id)
  VALUES (CASE TG_OP WHEN 'TRUNCATE' THEN '' WHEN 'DELETE' THEN OLD.run_id ELSE NEW.run_id END);
  RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION public.refuse(why text)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
BEGIN
  RAISE EXCEPTION '%', why USING ERRCODE = 'MD001';
END $function$;

CREATE OR REPLACE FUNCTION public.refuse_change_of_closed_record()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
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
END $function$;

CREATE OR REPLACE FUNCTION public.refuse_change_of_published_chunk()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
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
END $function$;

CREATE OR REPLACE FUNCTION public.refuse_change_of_record_but_seal()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
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
END $function$;

CREATE OR REPLACE FUNCTION public.refuse_lease_of_held_node()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  IF EXISTS (SELECT FROM nodes WHERE node_id = NEW.node_id AND held_since IS NOT NULL) THEN
    RETURN NULL;
  END IF;
  RETURN NEW;
END $function$;

CREATE OR REPLACE FUNCTION public.run_ended()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
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
END $function$;

CREATE TRIGGER closed_record BEFORE INSERT OR DELETE OR UPDATE ON public.asks FOR EACH ROW EXECUTE FUNCTION refuse_change_of_closed_record();
CREATE TRIGGER closed_record BEFORE INSERT OR DELETE OR UPDATE ON public.attempts FOR EACH ROW EXECUTE FUNCTION refuse_change_of_closed_record();
CREATE TRIGGER closed_record BEFORE INSERT OR DELETE OR UPDATE ON public.blob_chunks FOR EACH ROW EXECUTE FUNCTION refuse_change_of_published_chunk();
CREATE TRIGGER closed_record BEFORE UPDATE ON public.blobs FOR EACH ROW EXECUTE FUNCTION refuse_change_of_closed_record();
CREATE TRIGGER closed_record_delete BEFORE DELETE ON public.blobs FOR EACH ROW WHEN ((old.published_at IS NOT NULL)) EXECUTE FUNCTION refuse_change_of_closed_record();
CREATE TRIGGER closed_record_insert BEFORE INSERT ON public.blobs FOR EACH ROW EXECUTE FUNCTION refuse_change_of_closed_record();
CREATE TRIGGER closed_record BEFORE INSERT OR DELETE OR UPDATE ON public.grants FOR EACH ROW EXECUTE FUNCTION refuse_change_of_closed_record();
CREATE TRIGGER fleet_changed AFTER INSERT OR DELETE ON public.leases FOR EACH ROW EXECUTE FUNCTION fleet_changed();
CREATE TRIGGER fleet_emptied AFTER TRUNCATE ON public.leases FOR EACH STATEMENT EXECUTE FUNCTION fleet_changed();
CREATE TRIGGER held_node BEFORE INSERT ON public.leases FOR EACH ROW EXECUTE FUNCTION refuse_lease_of_held_node();
CREATE TRIGGER closed_record BEFORE INSERT OR DELETE OR UPDATE ON public.log_chunks FOR EACH ROW EXECUTE FUNCTION refuse_change_of_closed_record();
CREATE TRIGGER closed_record BEFORE INSERT OR DELETE OR UPDATE ON public.logs FOR EACH ROW EXECUTE FUNCTION refuse_change_of_closed_record();
CREATE TRIGGER fleet_changed AFTER INSERT OR DELETE OR UPDATE ON public.nodes FOR EACH ROW EXECUTE FUNCTION fleet_changed();
CREATE TRIGGER fleet_emptied AFTER TRUNCATE ON public.nodes FOR EACH STATEMENT EXECUTE FUNCTION fleet_changed();
CREATE TRIGGER closed_record BEFORE DELETE OR UPDATE ON public.records FOR EACH ROW WHEN ((old.closed_at IS NOT NULL)) EXECUTE FUNCTION refuse_change_of_record_but_seal();
CREATE TRIGGER closed_record BEFORE DELETE OR UPDATE ON public.runs FOR EACH ROW WHEN ((old.ended_at IS NOT NULL)) EXECUTE FUNCTION refuse_change_of_closed_record();
CREATE TRIGGER queue_changed AFTER UPDATE ON public.runs FOR EACH ROW WHEN (((old.state = 'QUEUED'::text) OR (new.state = 'QUEUED'::text))) EXECUTE FUNCTION queue_changed();
CREATE TRIGGER queue_emptied AFTER TRUNCATE ON public.runs FOR EACH STATEMENT EXECUTE FUNCTION queue_changed();
CREATE TRIGGER queue_entered AFTER INSERT ON public.runs FOR EACH ROW WHEN ((new.state = 'QUEUED'::text)) EXECUTE FUNCTION queue_changed();
CREATE TRIGGER queue_left AFTER DELETE ON public.runs FOR EACH ROW WHEN ((old.state = 'QUEUED'::text)) EXECUTE FUNCTION queue_changed();
CREATE TRIGGER run_began_over AFTER INSERT ON public.runs FOR EACH ROW WHEN ((new.ended_at IS NOT NULL)) EXECUTE FUNCTION run_ended();
CREATE TRIGGER run_ended AFTER UPDATE ON public.runs FOR EACH ROW WHEN (((old.ended_at IS NULL) AND (new.ended_at IS NOT NULL))) EXECUTE FUNCTION run_ended();
CREATE TRIGGER run_forgotten AFTER DELETE ON public.runs FOR EACH ROW WHEN ((old.ended_at IS NOT NULL)) EXECUTE FUNCTION run_ended();
CREATE TRIGGER runs_emptied AFTER TRUNCATE ON public.runs FOR EACH STATEMENT EXECUTE FUNCTION run_ended();
CREATE TRIGGER closed_record BEFORE INSERT OR DELETE OR UPDATE ON public.steps FOR EACH ROW EXECUTE FUNCTION refuse_change_of_closed_record();

CREATE VIEW invariants AS
 SELECT 'a running run was granted every node it is assigned'::text AS rule,
    r.run_id,
    (n.node ->> 'node_id'::text) AS detail
   FROM runs r,
    LATERAL json_array_elements(r.assigned) role(value),
    LATERAL json_array_elements((role.value -> 'nodes'::text)) n(node)
  WHERE ((r.state = 'RUNNING'::text) AND (NOT (EXISTS ( SELECT
           FROM grants g
          WHERE ((g.run_id = r.run_id) AND (g.node_id = (n.node ->> 'node_id'::text)))))))
UNION ALL
 SELECT 'a queued run holds no lease'::text AS rule,
    r.run_id,
    l.node_id AS detail
   FROM (runs r
     JOIN leases l USING (run_id))
  WHERE (r.state = 'QUEUED'::text)
UNION ALL
 SELECT 'the steps of a queued run are pending and bound to no node'::text AS rule,
    r.run_id,
    s.id AS detail
   FROM (runs r
     JOIN steps s USING (run_id))
  WHERE ((r.state = 'QUEUED'::text) AND ((s.state <> 'PENDING'::text) OR (s.node_id <> ''::text)))
UNION ALL
 SELECT 'a run that is over holds no lease'::text AS rule,
    r.run_id,
    l.node_id AS detail
   FROM (runs r
     JOIN leases l USING (run_id))
  WHERE (r.ended_at IS NOT NULL)
UNION ALL
 SELECT 'every step of a run that is over has ended'::text AS rule,
    r.run_id,
    s.id AS detail
   FROM (runs r
     JOIN steps s USING (run_id))
  WHERE ((r.ended_at IS NOT NULL) AND (s.ended_at IS NULL))
UNION ALL
 SELECT 'every attempt of an ended step has ended'::text AS rule,
    a.run_id,
    s.id AS detail
   FROM (attempts a
     JOIN steps s USING (run_id, seq))
  WHERE ((a.ended_at IS NULL) AND (s.ended_at IS NOT NULL))
UNION ALL
 SELECT 'a lease of a run under way has its open grant'::text AS rule,
    l.run_id,
    l.node_id AS detail
   FROM (leases l
     JOIN runs r USING (run_id))
  WHERE ((r.state = 'RUNNING'::text) AND (NOT (EXISTS ( SELECT
           FROM grants g
          WHERE ((g.run_id = l.run_id) AND (g.node_id = l.node_id) AND (g.released_at IS NULL))))))
UNION ALL
 SELECT 'an open grant has its lease'::text AS rule,
    g.run_id,
    g.node_id AS detail
   FROM grants g
  WHERE ((g.released_at IS NULL) AND (NOT (EXISTS ( SELECT
           FROM leases l
          WHERE ((l.run_id = g.run_id) AND (l.node_id = g.node_id))))))
UNION ALL
 SELECT 'a record is closed exactly when its run is over'::text AS rule,
    r.run_id,
    NULL::text AS detail
   FROM (runs r
     LEFT JOIN records c USING (run_id))
  WHERE ((c.run_id IS NULL) OR ((c.closed_at IS NOT NULL) <> (r.ended_at IS NOT NULL)))
UNION ALL
 SELECT 'a claimed step belongs to a running run that holds its node'::text AS rule,
    s.run_id,
    s.id AS detail
   FROM (steps s
     JOIN runs r USING (run_id))
  WHERE ((s.state = 'CLAIMED'::text) AND ((r.state <> 'RUNNING'::text) OR (NOT (EXISTS ( SELECT
           FROM leases l
          WHERE ((l.run_id = s.run_id) AND (l.node_id = s.node_id)))))))
UNION ALL
 SELECT 'a claimed step has its attempt open'::text AS rule,
    s.run_id,
    s.id AS detail
   FROM steps s
  WHERE ((s.state = 'CLAIMED'::text) AND (NOT (EXISTS ( SELECT
           FROM attempts a
          WHERE ((a.run_id = s.run_id) AND (a.seq = s.seq) AND (a.attempt = s.attempt) AND (a.state = 'CLAIMED'::text))))))
UNION ALL
 SELECT 'no step began before what it needs had ended'::text AS rule,
    s.run_id,
    s.id AS detail
   FROM (steps s
     JOIN steps n ON (((n.run_id = s.run_id) AND (n.id = ANY (s.needs)))))
  WHERE ((s.state = ANY (ARRAY['CLAIMED'::text, 'ASKED'::text, 'DONE'::text])) AND (n.state <> ALL (ARRAY['DONE'::text, 'SKIPPED'::text])) AND (NOT (EXISTS ( SELECT
           FROM attempts a
          WHERE ((a.run_id = s.run_id) AND (a.seq <> s.seq) AND (a.ended_at >= s.started_at) AND ((a.state = 'ROLLED_BACK'::text) OR ((a.result ->> 'branch'::text) IS NOT NULL)))))))
UNION ALL
 SELECT 'a running run has a step that has not ended, and none that failed'::text AS rule,
    r.run_id,
    NULL::text AS detail
   FROM runs r
  WHERE ((r.state = 'RUNNING'::text) AND ((NOT (EXISTS ( SELECT
           FROM steps s
          WHERE ((s.run_id = r.run_id) AND (s.ended_at IS NULL))))) OR (EXISTS ( SELECT
           FROM steps s
          WHERE ((s.run_id = r.run_id) AND (s.state = 'FAILED'::text))))))
UNION ALL
 SELECT 'the steps of an assigned role of a running run are bound'::text AS rule,
    r.run_id,
    s.id AS detail
   FROM (runs r
     JOIN steps s USING (run_id)),
    LATERAL json_array_elements(r.assigned) role(value)
  WHERE ((r.state = 'RUNNING'::text) AND ((role.value ->> 'as'::text) = s.uses) AND (s.node_id <> (((role.value -> 'nodes'::text) -> 0) ->> 'node_id'::text)))
UNION ALL
 SELECT 'a question is open exactly while its step is asked'::text AS rule,
    s.run_id,
    s.id AS detail
   FROM steps s
  WHERE ((s.state = 'ASKED'::text) <> (EXISTS ( SELECT
           FROM asks a
          WHERE ((a.run_id = s.run_id) AND (a.seq = s.seq) AND (a.attempt = s.attempt) AND (a.state = 'OPEN'::text)))))
UNION ALL
 SELECT 'only the attempt under way has an open question'::text AS rule,
    a.run_id,
    s.id AS detail
   FROM (asks a
     JOIN steps s USING (run_id, seq))
  WHERE ((a.state = 'OPEN'::text) AND (a.attempt <> s.attempt))
UNION ALL
 SELECT 'a queued run asks nobody'::text AS rule,
    a.run_id,
    NULL::text AS detail
   FROM (asks a
     JOIN runs r USING (run_id))
  WHERE (r.state = 'QUEUED'::text)
UNION ALL
 SELECT 'a run is told of its question only while it is open'::text AS rule,
    n.run_id,
    NULL::text AS detail
   FROM ask_notices n
  WHERE (NOT (EXISTS ( SELECT
           FROM asks a
          WHERE ((a.run_id = n.run_id) AND (a.seq = n.seq) AND (a.attempt = n.attempt) AND (a.state = 'OPEN'::text)))))
UNION ALL
 SELECT 'the bytes of a running run are counted'::text AS rule,
    c.run_id,
    (c.bytes)::text AS detail
   FROM (run_bytes c
     JOIN runs r USING (run_id))
  WHERE ((r.state = 'RUNNING'::text) AND ((c.bytes)::numeric <> ((( SELECT COALESCE(sum(b.size), (0)::numeric) AS "coalesce"
           FROM blobs b
          WHERE ((b.run_id = c.run_id) AND (b.published_at IS NOT NULL))) + (( SELECT COALESCE(sum(length(k.bytes)), (0)::bigint) AS "coalesce"
           FROM (blobs b
             JOIN blob_chunks k USING (upload_id))
          WHERE ((b.run_id = c.run_id) AND (b.published_at IS NULL) AND (b.promised IS NOT NULL))))::numeric) + ( SELECT COALESCE(sum(l.size), (0)::numeric) AS "coalesce"
           FROM logs l
          WHERE (l.run_id = c.run_id)))));

COMMENT ON TABLE public.ask_notices IS 'questions that somebody is still to be told of; no part of a record';
COMMENT ON COLUMN public.asks.answerers IS 'null: anybody who may submit';
COMMENT ON COLUMN public.blob_chunks.at IS 'offset of the first byte';
COMMENT ON TABLE public.blobs IS 'uploads; one that is not published yet is invisible, and is swept away if it is left over';
COMMENT ON COLUMN public.blobs.promised IS 'its step promises the name; false: no step does; null: from before, when it could be another step''s';
COMMENT ON TABLE public.ended_runs IS 'how many runs have ended so, but for those that ended_runs_news still has';
COMMENT ON TABLE public.ended_runs_news IS 'runs that have ended since the reaper last added them up: an end adds a row and waits for nobody, where a count that all of them write would make each wait for the one before';
COMMENT ON COLUMN public.events.xid IS 'ids commit out of order: a resumable reader goes by pg_snapshot_xmin(), then by id';
COMMENT ON TABLE public.fleet_changes IS 'nodes whose advert or lease was changed: who keeps the fleet in memory reads what is new since its last snapshot';
COMMENT ON COLUMN public.fleet_changes.node_id IS 'the empty string: all of them';
COMMENT ON COLUMN public.logs.cut IS 'the limit was reached: its last line says so, and nothing more is taken';
COMMENT ON COLUMN public.nodes.back_at IS 'when it spoke first after an outage or a silence: what it did not do before is not held against it';
COMMENT ON COLUMN public.nodes.faults IS 'the runs that it has ended by its own doing since it has done a step, the last ones; one run may be there twice';
COMMENT ON COLUMN public.nodes.forgotten_at IS 'it is shown to nobody unless it has spoken since: an advert brings it back, whichever version stores it';
COMMENT ON COLUMN public.nodes.held_since IS 'since when it is out of service; null: it is not';
COMMENT ON COLUMN public.nodes.hold_evidence IS 'the Mediator itself has taken it out of service, because of these runs; null: it has not';
COMMENT ON COLUMN public.nodes.offer_rev IS 'raised when the capabilities change: a grant checks that a node still offers what it was matched by';
COMMENT ON COLUMN public.nodes.remembered_from IS 'where it is later than expires_at: a silent node is remembered from then on, since there was an outage';
COMMENT ON COLUMN public.nodes.revived IS 'given more time after an outage: live, but unavailable until it speaks';
COMMENT ON COLUMN public.nodes.seq IS 'the highest that the instance has sent with an advert; null: it has sent none';
COMMENT ON COLUMN public.nodes.superseded IS 'instances whose place another has taken, the latest first';
COMMENT ON TABLE public.queue_changes IS 'runs that came into the queue, changed in it or left it: who keeps the queue in memory reads what is new since its last snapshot';
COMMENT ON COLUMN public.queue_changes.run_id IS 'the empty string: all of them';
COMMENT ON FUNCTION public.refuse(pg_catalog.text) IS 'ends a transaction that must not happen, from within its statement';
COMMENT ON TABLE public.run_bytes IS 'what a run stores in outputs, also those under way, and logs; a row of its own, since uploads count without the lock of the run';
COMMENT ON COLUMN public.runs.alone IS 'promoted in a transaction of its own: it has steps that the Mediator does itself, or it is not known';
COMMENT ON COLUMN public.runs.contract IS 'as submitted: json, not jsonb, so that the order of its keys stays';
COMMENT ON COLUMN public.runs.contract_hash IS 'SHA-256 of the canonical contract (RFC 8785)';
COMMENT ON COLUMN public.runs.earlier_waits IS 'how the run waited before it waited last: it has been back in the queue since';
COMMENT ON COLUMN public.runs.signature IS 'equal for runs whose requirements are equal';
COMMENT ON COLUMN public.runs.wait_holders IS 'who held the nodes at the moment the run was queued';
COMMENT ON COLUMN public.servers.factor IS 'what it multiplies its renew period by: so long its adverts and renewed leases live';
COMMENT ON COLUMN public.servers.renew_seconds IS 'its renew period, by which others judge its silence; NULL: not known, so they go by their own';
COMMENT ON COLUMN public.servers.settings IS 'what all servers of a database should agree on, by the name of the variable';
COMMENT ON COLUMN public.steps.heard IS 'who claimed the step has asked for it again: the claim was not lost on a node that had died';
COMMENT ON COLUMN public.steps.instance IS 'of the node process that claimed the step; empty: it named none';
COMMENT ON COLUMN public.steps.node_id IS 'the empty string while the step is bound to no node';
COMMENT ON COLUMN public.steps.pending_since IS 'its loop went round, or it was skipped and is not any more; null: it is pending since the run got its nodes';
