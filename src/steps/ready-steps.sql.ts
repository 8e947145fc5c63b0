import type { Queryable } from '../platform/database/queryable.js';

export interface ReadyStep {
  run_id: string;
  seq: number;
}

/** A step `s` that its node may begin: bound to it, its run RUNNING, every need DONE or SKIPPED. */
// That the node is one is said for the index, which holds bound steps only.
export const READY = `
  s.state = 'PENDING' AND s.node_id <> ''
  AND EXISTS (SELECT FROM runs r WHERE r.run_id = s.run_id AND r.state = 'RUNNING')
  AND NOT EXISTS (SELECT FROM steps n
                   WHERE n.run_id = s.run_id AND n.id = ANY (s.needs) AND n.state NOT IN ('DONE', 'SKIPPED'))`;

/** What a node could claim now, unlocked: the oldest run first, then in the order of its steps. */
export async function readReadySteps(database: Queryable, nodeId: string): Promise<ReadyStep[]> {
  const { rows } = await database.query<ReadyStep>(
    `/* steps.read-ready-steps */
     WITH ready AS MATERIALIZED (SELECT s.run_id, s.seq FROM steps s WHERE s.node_id = $1 AND ${READY})
     SELECT s.run_id, s.seq FROM ready s JOIN runs r USING (run_id) ORDER BY r.created_at, r.seq, s.seq LIMIT 20`,
    [nodeId],
  );
  return rows;
}

export interface NodeToAsk {
  /** How many of its steps are ready, as far as it matters. */
  ready: number;
  /** The one that spoke last; empty: it named none. */
  instance: string;
}

/** More are never looked for at once. */
const MOST_READY = 64;

/** What there is for each of these nodes, whose claims wait; a node that is not known is left out unless a step is ready. */
export async function readNodesToAsk(database: Queryable, nodeIds: string[]): Promise<Map<string, NodeToAsk>> {
  const { rows } = await database.query<NodeToAsk & { node_id: string }>(
    `/* steps.read-nodes-to-ask */
     SELECT waiting.node_id, coalesce(n.instance, '') AS instance, ready.steps AS ready
       FROM unnest($1::text[]) AS waiting (node_id)
       LEFT JOIN nodes n ON n.node_id = waiting.node_id COLLATE "C"
      CROSS JOIN LATERAL (
        SELECT count(*)::int AS steps
          FROM (SELECT FROM steps s WHERE s.node_id = waiting.node_id COLLATE "C" AND ${READY} LIMIT $2) AS s) AS ready
      WHERE ready.steps > 0 OR n.instance <> ''`,
    [nodeIds, MOST_READY],
  );
  return new Map(rows.map(({ node_id, ...node }) => [node_id, node]));
}
