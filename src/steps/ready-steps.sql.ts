import { FORGOTTEN } from '../fleet/fleet-changes.sql.js';
import { type Read, read, type Write, write } from '../platform/database/statement.js';
import { APPEND_EVENT } from '../records/events.sql.js';

export interface ReadyStep {
  run_id: string;
  seq: number;
}

/** Nothing that a step `s` needs is still to be done. */
export const NEEDS_MET = `
  NOT EXISTS (SELECT FROM steps n
               WHERE n.run_id = s.run_id AND n.id = ANY (s.needs) AND n.state NOT IN ('DONE', 'SKIPPED'))`;

/** A step `s` that its node may begin: bound to it, the node live, its run RUNNING, its needs met. */
// That the node is one is said for the index, which holds bound steps only.
export const READY = `
  s.state = 'PENDING' AND s.node_id <> ''
  AND EXISTS (SELECT FROM nodes n WHERE n.node_id = s.node_id AND n.expires_at > clock_timestamp())
  AND EXISTS (SELECT FROM runs r WHERE r.run_id = s.run_id AND r.state = 'RUNNING')
  AND ${NEEDS_MET}`;

export interface ClaimableSteps {
  /** What the node could claim now: the oldest run first, then in the order of its steps. */
  ready: ReadyStep[];
  /** What this instance of it has claimed, and has not asked for again. */
  unheard: ReadyStep[];
  /** The node was forgotten, and has not spoken since. */
  forgotten: boolean;
}

/** What there is for a claim of this instance of a node, unlocked. */
export function readClaimable(nodeId: string, instance: string): Read<ClaimableSteps> {
  return read({
    name: 'steps.read-claimable',
    text: `
     WITH ready AS MATERIALIZED (SELECT s.run_id, s.seq FROM steps s WHERE s.node_id = $1 AND ${READY})
     (SELECT s.run_id, s.seq, true AS ready
        FROM ready s JOIN runs r USING (run_id) ORDER BY r.created_at, r.seq, s.seq LIMIT 20)
      UNION ALL
      SELECT h.run_id, h.seq, false
        FROM steps h WHERE h.node_id = $1 AND h.node_id <> '' AND h.state = 'CLAIMED' AND h.instance = $2 AND NOT h.heard
      UNION ALL
      SELECT NULL, NULL, NULL FROM nodes n WHERE n.node_id = $1 AND ${FORGOTTEN}`,
    params: [nodeId, instance],
    as: (rows: (ReadyStep & { ready: boolean | null })[]) => ({
      ready: rows.filter(({ ready }) => ready === true),
      unheard: rows.filter(({ ready }) => ready === false),
      forgotten: rows.some(({ ready }) => ready === null),
    }),
  });
}

/** Writes down that who claimed the step has asked for it again. Its run is locked; a step that is claimed no more stays as it is. */
export function writeHeard({ run_id, seq }: ReadyStep, nodeId: string, instance: string): Write<void> {
  return write({
    name: 'steps.write-heard',
    text: `
     UPDATE steps SET heard = true
      WHERE run_id = $1 AND seq = $2 AND node_id = $3 AND instance = $4 AND state = 'CLAIMED' AND NOT heard`,
    params: [run_id, seq, nodeId, instance],
    rows: 'any',
  });
}

export interface NodeToAsk {
  /** How many of its steps are ready, as far as it matters. */
  ready: number;
  /** The one that spoke last; empty: it named none. */
  instance: string;
  /** Those that hold a step already, if the node is live: who has asked while it was not is given its own step again. */
  holders: string[];
}

/** More are never looked for at once. */
const MOST_READY = 64;

/** What there is for each of these nodes, whose claims wait; a node that is not known is left out unless a step is ready. */
export function readNodesToAsk(nodeIds: string[]): Read<Map<string, NodeToAsk>> {
  return read({
    name: 'steps.read-nodes-to-ask',
    text: `
     SELECT waiting.node_id, coalesce(n.instance, '') AS instance, ready.steps AS ready,
            ARRAY(SELECT h.instance FROM steps h
                   WHERE h.node_id = n.node_id AND h.node_id <> '' AND h.state = 'CLAIMED' AND h.instance <> ''
                     AND n.expires_at > clock_timestamp()) AS holders
       FROM unnest($1::text[]) AS waiting (node_id)
       LEFT JOIN nodes n ON n.node_id = waiting.node_id COLLATE "C"
      CROSS JOIN LATERAL (
        SELECT count(*)::int AS steps
          FROM (SELECT FROM steps s WHERE s.node_id = waiting.node_id COLLATE "C" AND ${READY} LIMIT $2) AS s) AS ready
      WHERE ready.steps > 0 OR n.instance <> ''`,
    params: [nodeIds, MOST_READY],
    as: (rows: (NodeToAsk & { node_id: string })[]) => new Map(rows.map(({ node_id, ...node }) => [node_id, node])),
  });
}

/** A step `h` that the instance $2 of the node $1 holds, if it has a name. */
const HELD = "h.node_id = $1 AND h.instance = $2 AND h.instance <> '' AND h.state = 'CLAIMED'";

/**
 * Gives the step to the node, with an event, if it may still begin and this named instance holds none; the run is locked,
 * so nothing that this depends on moves.
 */
export function claimStep({ run_id, seq }: ReadyStep, nodeId: string, instance: string): Write<boolean> {
  return write({
    name: 'steps.claim-step',
    text: `
     WITH claimed AS (
       UPDATE steps s SET state = 'CLAIMED', instance = $2, heard = false, started_at = clock_timestamp()
        WHERE s.run_id = $3 AND s.seq = $4 AND s.node_id = $1 AND ${READY} AND NOT EXISTS (SELECT FROM steps h WHERE ${HELD})
       RETURNING run_id, seq, attempt, node_id, instance, started_at),
     counted AS (UPDATE runs r SET version = version + 1 FROM claimed WHERE r.run_id = claimed.run_id),
     begun AS (
       INSERT INTO attempts (run_id, seq, attempt, node_id, instance, state, started_at)
       SELECT run_id, seq, attempt, node_id, instance, 'CLAIMED', started_at FROM claimed),
     happened AS (
       SELECT run_id, 'step_claimed' AS kind,
              jsonb_build_object('seq', seq, 'attempt', attempt, 'node_id', node_id, 'instance', instance) AS data
         FROM claimed),
     recorded AS (${APPEND_EVENT})
     SELECT FROM claimed`,
    params: [nodeId, instance, run_id, seq],
    rows: 'any',
    as: (_rows, touched) => touched === 1,
  });
}

/** The step that this named instance holds already: one at most. */
export function readHeldSteps(nodeId: string, instance: string): Read<ReadyStep[]> {
  return read({
    name: 'steps.read-held-steps',
    text: `SELECT h.run_id, h.seq FROM steps h WHERE ${HELD}`,
    params: [nodeId, instance],
    as: (rows: ReadyStep[]) => rows,
  });
}
