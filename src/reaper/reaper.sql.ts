import { type Read, read } from '../platform/database/statement.js';
import { NEEDS_MET } from '../steps/ready-steps.sql.js';
import { SILENCE } from './servers/servers.sql.js';

/** A question `a` that is past its time. */
const OVERDUE_ASK = "a.state = 'OPEN' AND a.deadline < clock_timestamp()";

/**
 * A step `s` of a node `n` that was claimed for longer than its time and $1 seconds. A node that has not spoken since an outage
 * may have been done in time: it is given the time to say so.
 */
const OVERDUE_STEP = `
  s.state = 'CLAIMED' AND s.timeout_seconds IS NOT NULL AND NOT n.revived
  AND s.started_at + make_interval(secs => s.timeout_seconds + $1) < clock_timestamp()`;

/** A lease `l` that is over: it ran out, or the advert of its node did. */
const EXPIRED = `
  (l.not_after < clock_timestamp()
   OR EXISTS (SELECT FROM nodes n WHERE n.node_id = l.node_id AND n.expires_at < clock_timestamp()))`;

export interface Overdue {
  run_id: string;
  seq: number;
}

/** Questions past their time. Unlocked: each is asked again under its run's lock. */
export function findOverdueAsks(): Read<Overdue[]> {
  return read({
    name: 'reaper.find-overdue-asks',
    text: `SELECT a.run_id, a.seq FROM asks a WHERE ${OVERDUE_ASK} ORDER BY a.deadline`,
    as: (rows: Overdue[]) => rows,
  });
}

/** Steps past their time, and the grace of one renew period. Unlocked, like the questions. */
export function findOverdueSteps(graceSeconds: number): Read<Overdue[]> {
  return read({
    name: 'reaper.find-overdue-steps',
    text: `
     SELECT s.run_id, s.seq FROM steps s JOIN nodes n USING (node_id) WHERE ${OVERDUE_STEP} ORDER BY s.started_at`,
    params: [graceSeconds],
    as: (rows: Overdue[]) => rows,
  });
}

export interface OverdueAsk {
  id: string;
  attempt: number;
  output: string;
  /** What the contract has as its default, as it was sent; null: it has none. */
  default_answer: string | null;
}

/** The question of this step, if it is still open and past its time; its run is locked. */
export function readOverdueAsk({ run_id, seq }: Overdue): Read<OverdueAsk | undefined> {
  return read({
    name: 'reaper.read-overdue-ask',
    text: `
     SELECT s.id, a.attempt, a.output, (r.contract->'steps'->(s.seq - 1)->'ask'->'default')::text AS default_answer
       FROM asks a JOIN steps s USING (run_id, seq, attempt) JOIN runs r USING (run_id)
      WHERE a.run_id = $1 AND a.seq = $2 AND ${OVERDUE_ASK} AND s.state = 'ASKED'`,
    params: [run_id, seq],
    as: (rows: OverdueAsk[]) => rows[0],
  });
}

/** The step, if it is still claimed, and past its time and grace; its run is locked. */
export function readOverdueStep(
  { run_id, seq }: Overdue,
  graceSeconds: number,
): Read<{ id: string; node_id: string; timeout_seconds: number } | undefined> {
  return read({
    name: 'reaper.read-overdue-step',
    text: `
     SELECT s.id, s.node_id, s.timeout_seconds FROM steps s JOIN nodes n USING (node_id)
      WHERE s.run_id = $2 AND s.seq = $3 AND ${OVERDUE_STEP}`,
    params: [graceSeconds, run_id, seq],
    as: (rows: { id: string; node_id: string; timeout_seconds: number }[]) => rows[0],
  });
}

/**
 * The nodes whose lease of this (locked) run is over; none while the run waits for a person: some step is ASKED, and
 * none is claimed or ready on a node. None either where every server was silent for too long, each by its own period (the
 * database, or this process, has stood still since the pass began): nobody was there to renew a lease, and the next look
 * finds the outage.
 */
export function readExpired(runId: string, ownSilenceSeconds: number): Read<string[]> {
  return read({
    name: 'reaper.read-expired',
    text: `
     SELECT l.node_id FROM leases l
      WHERE l.run_id = $2 AND ${EXPIRED}
        AND EXISTS (SELECT FROM servers v
                     WHERE v.stopped_at IS NULL AND v.seen_at > clock_timestamp() - make_interval(secs => ${SILENCE}))
        AND NOT (EXISTS (SELECT FROM steps s WHERE s.run_id = $2 AND s.state = 'ASKED')
                 AND NOT EXISTS (
                   SELECT FROM steps s
                    WHERE s.run_id = $2 AND s.kind IN ('run', 'agent')
                      AND (s.state = 'CLAIMED' OR s.state = 'PENDING' AND ${NEEDS_MET})))
      ORDER BY l.node_id`,
    params: [ownSilenceSeconds, runId],
    as: (rows: { node_id: string }[]) => rows.map((row) => row.node_id),
  });
}

/** Runs under way with a lease that is over. Unlocked: each is asked again under its lock, and whether it waits for a person. */
export function findExpired(): Read<string[]> {
  return read({
    name: 'reaper.find-expired',
    text: `
     SELECT DISTINCT l.run_id FROM leases l JOIN runs r USING (run_id)
      WHERE ${EXPIRED} AND r.state = 'RUNNING' ORDER BY l.run_id`,
    as: (rows: { run_id: string }[]) => rows.map((row) => row.run_id),
  });
}

export interface Leftover {
  node_id: string;
  run_id: string;
}

/** Leases that outlived their run, by node. */
export function findLeftovers(): Read<Leftover[]> {
  return read({
    name: 'reaper.find-leftovers',
    text: `
     SELECT l.node_id, l.run_id FROM leases l JOIN runs r USING (run_id) WHERE r.ended_at IS NOT NULL ORDER BY l.node_id`,
    as: (rows: Leftover[]) => rows,
  });
}

/** Uploads that were begun so many seconds ago and not published, the oldest first. */
export function findLeftoverUploads(seconds: number, limit: number): Read<string[]> {
  return read({
    name: 'reaper.find-leftover-uploads',
    text: `
     SELECT upload_id FROM blobs
      WHERE published_at IS NULL AND started_at < clock_timestamp() - make_interval(secs => $1)
      ORDER BY started_at LIMIT $2`,
    params: [seconds, limit],
    as: (rows: { upload_id: string }[]) => rows.map((row) => row.upload_id),
  });
}
