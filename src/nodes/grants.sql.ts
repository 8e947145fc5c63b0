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

const NEWEST = 'ORDER BY g.granted_at DESC, g.grant_id DESC LIMIT';
const BEHIND = `
  (g.granted_at, g.grant_id) < (coalesce($5::timestamptz, 'infinity'), coalesce($6::bigint, 9223372036854775807))`;
const BEGAN_BY = "g.granted_at <= coalesce($4::timestamptz, 'infinity')";
const WENT_ON_AT = "(g.released_at IS NULL OR g.released_at > coalesce($3::timestamptz, '-infinity'))";

/**
 * A page of grants, the newest first, behind the given place: at most so many, and one more where there are more. Of a time,
 * those that overlap it.
 */
export function readGrantPage(filter: GrantFilter, limit: number, after: Keyset | undefined): Read<GrantRow[]> {
  return read({
    name: 'nodes.read-grant-page',
    text: `
     WITH ${filter.run_id === undefined ? partOfTime(filter) : PART_OF_RUN}
     SELECT g.node_id, n.label, g.run_id, r.principal, g.roles, g.granted_at, g.released_at, g.why,
            json_build_object('created_at', g.granted_at::text, 'seq', g.grant_id::text) AS place
       FROM part g JOIN nodes n USING (node_id) JOIN runs r USING (run_id)
      WHERE ${BEHIND} AND ${BEGAN_BY}
      ${NEWEST} $7`,
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

/** A run has few grants: they are read by the run, whatever order they are wanted in. */
const PART_OF_RUN = `
  part AS MATERIALIZED (
    SELECT g.* FROM grants g WHERE g.run_id = $2 AND ($1::text IS NULL OR g.node_id = $1) AND ${WENT_ON_AT})`;

/**
 * What was granted within the time is read in its order. Of what was granted before it, only the last grant of each node can
 * reach into it, since a node is granted once at a time: so what is read does not grow with the history.
 */
function partOfTime({ node_id, from }: GrantFilter): string {
  const wanted = (nodeId: string): string =>
    `$2::text IS NULL AND ${node_id === undefined ? '$1::text IS NULL' : `${nodeId} = $1`} AND ${BEHIND}`;
  const within = `/* nodes.grants-within */
    SELECT g.* FROM grants g
     WHERE ${wanted('g.node_id')} AND ${BEGAN_BY} AND g.granted_at >= coalesce($3::timestamptz, '-infinity')
     ${NEWEST} $7`;
  const before = `/* nodes.grants-reaching-in */
    SELECT g.* FROM nodes n CROSS JOIN LATERAL (
             SELECT g.* FROM grants g WHERE g.node_id = n.node_id AND g.granted_at < $3::timestamptz ${NEWEST} 1) AS g
     WHERE ${wanted('n.node_id')} AND ${WENT_ON_AT}
     ${NEWEST} $7`;
  return `part AS ((${within}) ${from === undefined ? '' : `UNION ALL (${before})`})`;
}
