import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The tables, with the promises they can keep by themselves: keys, references and CHECKs. */
export class Tables1790000000001 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(UP);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(DOWN);
  }
}

// Identifiers compare by bytes (COLLATE "C"), as the matcher compares them: the order of locks must not depend on a locale.
const UP = `
CREATE TABLE servers (
  server_id  uuid PRIMARY KEY,
  started_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  seen_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
  stopped_at timestamptz
);

CREATE TABLE nodes (
  node_id      text COLLATE "C" PRIMARY KEY CHECK (node_id <> ''),
  label        text NOT NULL,
  instance     text NOT NULL DEFAULT '',
  drain        text NOT NULL DEFAULT '' CHECK (drain IN ('', 'graceful', 'at-boundary')),
  capabilities jsonb NOT NULL CHECK (jsonb_typeof(capabilities) = 'array'),
  offer_rev    bigint NOT NULL DEFAULT 1,
  revived      boolean NOT NULL DEFAULT false,
  seen_at      timestamptz NOT NULL DEFAULT clock_timestamp(),
  expires_at   timestamptz NOT NULL
);
COMMENT ON COLUMN nodes.offer_rev IS 'raised when the capabilities change: a grant checks that a node still offers what it was matched by';
COMMENT ON COLUMN nodes.revived IS 'given more time after an outage: live, but unavailable until it speaks';

CREATE TABLE runs (
  run_id         text COLLATE "C" PRIMARY KEY CHECK (run_id <> ''),
  seq            bigint GENERATED ALWAYS AS IDENTITY UNIQUE,
  state          text NOT NULL CHECK (state IN ('QUEUED', 'RUNNING', 'SUCCEEDED', 'FAILED', 'CANCELLED')),
  version        bigint NOT NULL DEFAULT 1,
  principal      text NOT NULL,
  contract       json NOT NULL,
  contract_hash  text NOT NULL CHECK (contract_hash ~ '^[0-9a-f]{64}$'),
  work_id        text,
  requires       json NOT NULL,
  spread         boolean NOT NULL,
  signature      text NOT NULL,
  assigned       json,
  queued_at      timestamptz,
  wait_reason    text CHECK (wait_reason IN ('OFFLINE', 'TOO_WIDE', 'DRAINING', 'BUSY')),
  wait_holders   json,
  promoted_at    timestamptz,
  promoted_whys  text[],
  verdict        json,
  created_at     timestamptz NOT NULL DEFAULT clock_timestamp(),
  started_at     timestamptz,
  ended_at       timestamptz,
  CONSTRAINT runs_queued CHECK (state <> 'QUEUED' OR (assigned IS NULL AND started_at IS NULL AND queued_at IS NOT NULL)),
  CONSTRAINT runs_running CHECK (state <> 'RUNNING' OR (assigned IS NOT NULL AND started_at IS NOT NULL)),
  CONSTRAINT runs_over CHECK ((state IN ('SUCCEEDED', 'FAILED', 'CANCELLED')) = (ended_at IS NOT NULL)),
  CONSTRAINT runs_verdict CHECK ((verdict IS NOT NULL) = (ended_at IS NOT NULL)),
  CONSTRAINT runs_assigned CHECK (assigned IS NULL OR json_typeof(assigned) = 'array'),
  CONSTRAINT runs_verdict_reason CHECK (verdict IS NULL OR coalesce(verdict->>'reason', '') IN (
    'succeeded', 'unsatisfiable', 'too_wide', 'step_failed', 'step_timeout', 'conditions_unmet', 'lease_expired',
    'node_restarted', 'ask_expired', 'cancelled', 'drained')),
  CONSTRAINT runs_verdict_fits CHECK (
    (state = 'SUCCEEDED') = (coalesce(verdict->>'reason', '') = 'succeeded')
    AND (state = 'CANCELLED') = (coalesce(verdict->>'reason', '') IN ('cancelled', 'drained'))),
  CONSTRAINT runs_waited CHECK ((queued_at IS NULL) = (wait_reason IS NULL)),
  CONSTRAINT runs_promoted CHECK (promoted_at IS NULL OR queued_at IS NOT NULL)
);
CREATE INDEX runs_by_state ON runs (state, created_at, seq);
CREATE INDEX runs_queued_by_signature ON runs (signature, created_at, seq) WHERE state = 'QUEUED';
CREATE INDEX runs_by_age ON runs (created_at, seq);
CREATE INDEX runs_by_work ON runs (work_id, created_at, seq) WHERE work_id IS NOT NULL;
COMMENT ON COLUMN runs.contract IS 'as submitted: json, not jsonb, so that the order of its keys stays';
COMMENT ON COLUMN runs.contract_hash IS 'SHA-256 of the canonical contract (RFC 8785)';
COMMENT ON COLUMN runs.signature IS 'equal for runs whose requirements are equal';
COMMENT ON COLUMN runs.wait_holders IS 'who held the nodes at the moment the run was queued';

CREATE TABLE leases (
  node_id    text COLLATE "C" PRIMARY KEY REFERENCES nodes,
  run_id     text COLLATE "C" NOT NULL REFERENCES runs,
  not_after  timestamptz NOT NULL CHECK (isfinite(not_after)),
  nonce      text NOT NULL DEFAULT gen_random_uuid()::text,
  roles      text[] NOT NULL DEFAULT '{}',
  granted_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX leases_by_run ON leases (run_id);
CREATE INDEX leases_by_end ON leases (not_after);

CREATE TABLE grants (
  grant_id    bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  node_id     text COLLATE "C" NOT NULL REFERENCES nodes,
  run_id      text COLLATE "C" NOT NULL REFERENCES runs,
  roles       text[] NOT NULL,
  granted_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
  released_at timestamptz,
  why         text,
  CONSTRAINT grants_released CHECK ((released_at IS NULL) = (why IS NULL))
);
CREATE UNIQUE INDEX grants_one_open_per_node ON grants (node_id) WHERE released_at IS NULL;
CREATE INDEX grants_by_run ON grants (run_id);

CREATE TABLE steps (
  run_id     text COLLATE "C" NOT NULL REFERENCES runs,
  seq        integer NOT NULL CHECK (seq >= 1),
  id         text COLLATE "C" NOT NULL,
  kind       text NOT NULL CHECK (kind IN ('run', 'agent', 'acquire', 'ask')),
  uses       text COLLATE "C",
  node_id    text COLLATE "C" NOT NULL DEFAULT '',
  state      text NOT NULL DEFAULT 'PENDING'
             CHECK (state IN ('PENDING', 'CLAIMED', 'ASKED', 'DONE', 'FAILED', 'SKIPPED', 'CANCELLED')),
  needs      text[] NOT NULL,
  attempt    integer NOT NULL DEFAULT 1 CHECK (attempt >= 1),
  chosen     boolean NOT NULL DEFAULT false,
  instance   text NOT NULL DEFAULT '',
  started_at timestamptz,
  ended_at   timestamptz,
  result     json,
  PRIMARY KEY (run_id, seq),
  UNIQUE (run_id, id),
  CONSTRAINT steps_uses CHECK ((kind IN ('run', 'agent')) = (uses IS NOT NULL)),
  CONSTRAINT steps_claimed CHECK (state <> 'CLAIMED' OR (node_id <> '' AND started_at IS NOT NULL)),
  CONSTRAINT steps_asked CHECK (state <> 'ASKED' OR kind = 'ask'),
  CONSTRAINT steps_ended CHECK ((state IN ('DONE', 'FAILED', 'SKIPPED', 'CANCELLED')) = (ended_at IS NOT NULL))
);
CREATE INDEX steps_of_node ON steps (node_id, run_id, seq) WHERE node_id <> '' AND state IN ('PENDING', 'CLAIMED');
CREATE UNIQUE INDEX steps_one_per_instance ON steps (node_id, instance) WHERE state = 'CLAIMED' AND instance <> '';
COMMENT ON COLUMN steps.node_id IS 'the empty string while the step is bound to no node';
COMMENT ON COLUMN steps.instance IS 'of the node process that claimed the step; empty: it named none';

CREATE TABLE attempts (
  run_id     text COLLATE "C" NOT NULL,
  seq        integer NOT NULL,
  attempt    integer NOT NULL,
  node_id    text COLLATE "C" NOT NULL DEFAULT '',
  instance   text NOT NULL DEFAULT '',
  state      text NOT NULL CHECK (state IN ('CLAIMED', 'ASKED', 'DONE', 'FAILED', 'SKIPPED', 'CANCELLED', 'ROLLED_BACK')),
  started_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  ended_at   timestamptz,
  result     json,
  PRIMARY KEY (run_id, seq, attempt),
  FOREIGN KEY (run_id, seq) REFERENCES steps,
  CONSTRAINT attempts_ended CHECK ((state IN ('CLAIMED', 'ASKED')) = (ended_at IS NULL))
);

CREATE TABLE records (
  run_id    text COLLATE "C" PRIMARY KEY REFERENCES runs,
  opened_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  closed_at timestamptz,
  sealed_at timestamptz,
  files     json,
  sums      text,
  digest    text CHECK (digest ~ '^sha256:[0-9a-f]{64}$'),
  purged_at timestamptz,
  CONSTRAINT records_sealed CHECK ((digest IS NULL) = (sealed_at IS NULL) AND (digest IS NULL OR closed_at IS NOT NULL)),
  CONSTRAINT records_whole CHECK ((digest IS NOT NULL AND purged_at IS NULL) = (files IS NOT NULL AND sums IS NOT NULL))
);
CREATE INDEX records_unsealed ON records (closed_at) WHERE digest IS NULL AND closed_at IS NOT NULL;

CREATE TABLE events (
  id     bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  xid    xid8 NOT NULL DEFAULT pg_current_xact_id(),
  run_id text COLLATE "C" NOT NULL REFERENCES runs,
  at     timestamptz NOT NULL DEFAULT clock_timestamp(),
  kind   text NOT NULL,
  data   jsonb NOT NULL DEFAULT '{}'
);
CREATE INDEX events_by_run ON events (run_id, id);
COMMENT ON COLUMN events.xid IS 'ids commit out of order: a resumable reader goes by pg_snapshot_xmin(), then by id';
`;

const DOWN = `
DROP TABLE events, records, attempts, steps, grants, leases, runs, nodes, servers;
`;
