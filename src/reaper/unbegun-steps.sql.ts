import { type Read, read } from '../platform/database/statement.js';
import { READY } from '../steps/ready-steps.sql.js';
import type { Overdue } from './reaper.sql.js';

export interface Unbegun extends Overdue {
  node_id: string;
}

/**
 * A step `s` that its node could have begun for longer than $1 seconds: it is ready, the node holds the run and does nothing
 * of it. The time counts from the last of what it waited for: the node, a step that it needs, another one on the node, its
 * loop, and the node's first advert after an outage.
 */
const UNBEGUN = `
  FROM steps s JOIN runs r USING (run_id) JOIN nodes n USING (node_id) JOIN leases l USING (node_id, run_id)
 WHERE ${READY} AND NOT n.revived
   AND NOT EXISTS (SELECT FROM steps c WHERE c.node_id = s.node_id AND c.node_id <> '' AND c.state = 'CLAIMED')
   AND greatest(r.started_at, l.granted_at, n.back_at, s.pending_since,
                (SELECT max(d.ended_at) FROM steps d WHERE d.run_id = s.run_id AND d.id = ANY (s.needs)),
                (SELECT max(a.ended_at) FROM attempts a WHERE a.run_id = s.run_id AND a.node_id = s.node_id))
       < clock_timestamp() - make_interval(secs => $1)`;

/** Steps that were not begun in time. Unlocked: each is asked again under the locks of its node and its run. */
export function findUnbegun(seconds: number): Read<Unbegun[]> {
  return read({
    name: 'reaper.find-unbegun',
    text: `SELECT s.run_id, s.seq, s.node_id ${UNBEGUN} ORDER BY r.started_at, s.run_id, s.seq`,
    params: [seconds],
    as: (rows: Unbegun[]) => rows,
  });
}

/** The id of the step, if it still is not begun; its node and its run are locked. */
export function readUnbegun({ run_id, seq, node_id }: Unbegun, seconds: number): Read<string | undefined> {
  return read({
    name: 'reaper.read-unbegun',
    text: `SELECT s.id ${UNBEGUN} AND s.run_id = $2 AND s.seq = $3 AND s.node_id = $4`,
    params: [seconds, run_id, seq, node_id],
    as: (rows: { id: string }[]) => rows[0]?.id,
  });
}
