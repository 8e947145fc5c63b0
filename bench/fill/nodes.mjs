import { EVERY_FEATURE } from './kinds.mjs';

export const boardName = (index) => `n${String(index).padStart(5, '0')}`;
/** The node that is released, and the other of its sort, which never is. */
export const HOT = 'hot-1';
export const NEVER_FREE = 'hot-2';

/** Live boards from n00000 on, and the two hot nodes. */
export async function fillNodes(client, boards) {
  const names = [...Array.from({ length: boards }, (_, index) => boardName(index)), HOT, NEVER_FREE];
  await client.query(
    `INSERT INTO nodes (node_id, label, capabilities, expires_at)
     SELECT name, 'board ' || name,
            jsonb_build_array(jsonb_build_object(
              'capability', CASE WHEN name LIKE 'hot-%' THEN 'hot' ELSE 'board' END, 'attrs', $2::jsonb)),
            clock_timestamp() + interval '12 hours'
       FROM unnest($1::text[]) AS name`,
    [names, JSON.stringify(EVERY_FEATURE)],
  );
}
