import { type Read, read } from '../platform/database/statement.js';
import type { Keyset } from '../platform/http/cursor.js';

export interface GrantFilter {
  node_id?: string;
  run_id?: string;
  from?: string;
  to?: string;
}

export interface GrantRow {
  node_id: string;
  label: string;
  run_id: string;
  principal: string;
  roles: string[];
  granted_at: Date;
  released_at: Date | null;
  why: string | null;
  place: Keyset;
}

/**
 * A page of grants, the newest first, behind the given place: at most so many, and one more where there are more. Of a time,
 * those that overlap it: what was granted within it is read in its order; of what was granted before, only the last grant of
 * each node can reach into it, since a node is granted once at a time. So what is read does not grow with the history.
 */
export function readGrantPage(filter: GrantFilter, limit: number, after: Keyset | undefined): Read<GrantRow[]> {
  const wanted = `
    ${filter.run_id === undefined ? '$2::text IS NULL' : 'g.run_id = $2'}
    AND (g.granted_at, g.grant_id) < (coalesce($5::timestamptz, 'infinity'), coalesce($6::bigint, 9223372036854775807))`;
  const ofNode = (nodeId: string): string => (filter.node_id === undefined ? '$1::text IS NULL' : `${nodeId} = $1`);
  const newest = 'ORDER BY g.granted_at DESC, g.grant_id DESC LIMIT';
  const before = `
       UNION ALL
      (SELECT g.* FROM nodes n CROSS JOIN LATERAL (
                SELECT * FROM grants g WHERE g.node_id = n.node_id AND g.granted_at < $3::timestamptz ${newest} 1) AS g
        WHERE ${ofNode('n.node_id')} AND (g.released_at IS NULL OR g.released_at > $3::timestamptz) AND ${wanted}
        ${newest} $7)`;
  return read({
    name: 'nodes.read-grant-page',
    text: `
     WITH page AS (
      (SELECT g.* FROM grants g
        WHERE ${ofNode('g.node_id')} AND ${wanted}
          AND g.granted_at >= coalesce($3::timestamptz, '-infinity')
          AND g.granted_at <= coalesce($4::timestamptz, 'infinity')
        ${newest} $7)
      ${filter.from === undefined ? '' : before})
     SELECT g.node_id, n.label, g.run_id, r.principal, g.roles, g.granted_at, g.released_at, g.why,
            json_build_object('created_at', g.granted_at::text, 'seq', g.grant_id::text) AS place
       FROM page g JOIN nodes n USING (node_id) JOIN runs r USING (run_id)
      WHERE g.granted_at <= coalesce($4::timestamptz, 'infinity')
      ${newest} $7`,
    params: [
      filter.node_id ?? null,
      filter.run_id ?? null,
      filter.from ?? null,
      filter.to ?? null,
      after?.created_at ?? null,
      after?.seq ?? null,
      limit + 1,
    ],
    as: (rows: GrantRow[]) => rows,
  });
}
