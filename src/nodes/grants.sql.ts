import { grantWalk, lastGrantBefore, overlaps } from '../leases/grants-of-time.sql.js';
import { type NewestFirst, newestFirst, untilTime } from '../platform/database/newest-first.sql.js';
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

/** So that each parameter has a type, though no list asks for all of them; nobody asks for this. */
const GIVEN = `
  given AS (SELECT $1::text, $2::text, $3::timestamptz, $4::timestamptz, $5::timestamptz, $6::bigint)`;
const PLACE = { at: '$5', no: '$6' };
const OVERLAPS = overlaps({ from: '$3', to: '$4' });

/**
 * A page of grants, the newest first, behind the given place: at most so many, and one more where there are more. Of a time,
 * those that overlap it.
 */
export function readGrantPage(filter: GrantFilter, limit: number, after: Keyset | undefined): Read<GrantRow[]> {
  const walk = { until: ['<=', untilTime('$4')], after: after && PLACE } as const;
  const { where, order } = newestFirst({ ...grantWalk(), ...walk });
  return read({
    name: 'nodes.read-grant-page',
    text: `
     WITH ${GIVEN}, part AS MATERIALIZED (${filter.run_id === undefined ? partsOfTime(filter, walk) : PART_OF_RUN})
     SELECT g.node_id, n.label, g.run_id, r.principal, g.roles, g.granted_at, g.released_at, g.why,
            json_build_object('created_at', g.granted_at::text, 'seq', g.grant_id::text) AS place
       FROM part g JOIN nodes n USING (node_id) JOIN runs r USING (run_id)
      WHERE ${where} AND ${OVERLAPS}
      ${order} LIMIT $7`,
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
const PART_OF_RUN = `/* nodes.grants-of-run */
    SELECT g.* FROM grants g WHERE g.run_id = $2 AND ($1::text IS NULL OR g.node_id = $1)`;

/** What was granted within the time is read in its order; of what was granted before it, the last grant of each node. */
function partsOfTime({ node_id, from }: GrantFilter, walk: Pick<NewestFirst, 'until' | 'after'>): string {
  const within = newestFirst({ ...grantWalk(node_id && '$1'), ...walk, ...(from !== undefined && { from: '$3' }) });
  const before = newestFirst({ ...grantWalk(), ...walk, until: ['<', '$3'] });
  const newest = `/* nodes.grants-within */
    SELECT g.* FROM grants g WHERE ${within.where} ${within.order} LIMIT $7`;
  const reachingIn = `/* nodes.grants-reaching-in */
    SELECT g.* FROM nodes n CROSS JOIN LATERAL (${lastGrantBefore('$3', 'n.node_id')}) AS g
     WHERE ${before.where} AND ${OVERLAPS} ${node_id === undefined ? '' : 'AND n.node_id = $1'}
     ${before.order} LIMIT $7`;
  return from === undefined ? newest : `(${newest}) UNION ALL (${reachingIn})`;
}
