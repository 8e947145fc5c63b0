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

/** Of the nodes that wait for a step, those that should ask again: a step is ready, or another instance has spoken. */
export async function readNodesToAsk(
  database: Queryable,
  waiting: { node_id: string; instance: string }[],
): Promise<Set<string>> {
  const { rows } = await database.query<{ node_id: string }>(
    `/* steps.read-nodes-to-ask */
     SELECT DISTINCT waiting.node_id
       FROM unnest($1::text[], $2::text[]) AS waiting (node_id, instance)
      WHERE EXISTS (SELECT FROM steps s WHERE s.node_id = waiting.node_id COLLATE "C" AND ${READY})
         OR EXISTS (SELECT FROM nodes n WHERE n.node_id = waiting.node_id COLLATE "C"
                      AND n.instance <> '' AND waiting.instance <> '' AND n.instance <> waiting.instance)`,
    [waiting.map((one) => one.node_id), waiting.map((one) => one.instance)],
  );
  return new Set(rows.map((row) => row.node_id));
}
