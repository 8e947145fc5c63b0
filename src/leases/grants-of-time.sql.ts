/*
 * Which grants overlap a time: they had begun by its end, and had not ended by its beginning. Times are expressions, null where
 * that side is open; `g` is a grant.
 */
import { type NewestFirst, newestFirst, untilTime } from '../platform/database/newest-first.sql.js';

/** One that ended at that very moment had ended. */
export function overlaps({ from, to }: { from: string; to: string }, g = 'g'): string {
  return `${g}.granted_at <= ${untilTime(to)}
       AND (${g}.released_at IS NULL OR ${g}.released_at > coalesce(${from}::timestamptz, '-infinity'))`;
}

/** How grants are read, the newest first: of all nodes, or of one. */
export function grantWalk(nodeId?: string): Pick<NewestFirst, 'of' | 'at' | 'no'> {
  const of = nodeId === undefined ? {} : { of: { column: 'g.node_id', value: nodeId } };
  return { ...of, at: 'g.granted_at', no: 'g.grant_id' };
}

/**
 * The last grant of a node that began before a time, which is the only one of them that can reach into it, since a node is
 * granted once at a time: so what is read does not grow with the history.
 */
export function lastGrantBefore(time: string, nodeId: string): string {
  const { where, order } = newestFirst({ ...grantWalk(nodeId), until: ['<', `${time}::timestamptz`] });
  return `/* leases.last-grant-before */ SELECT g.* FROM grants g WHERE ${where} ${order} LIMIT 1`;
}
