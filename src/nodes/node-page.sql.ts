import { FORGOTTEN } from '../fleet/fleet-changes.sql.js';
import { type Read, read } from '../platform/database/statement.js';
import { PAGE_BYTES } from '../platform/http/fill-page.js';
import { NODE_COLUMNS, type NodeRow, WITH_LEASE } from './nodes.sql.js';
import type { NodeState } from './nodes-query.dto.js';

/** Which nodes are listed; each narrows the list, unless it is left out. */
export interface NodeFilter {
  /** Also those that are not live. */
  all: boolean;
  state?: NodeState | undefined;
  node_id?: string | undefined;
  /** In one entry of the advert. */
  offers?: { capability?: string; attrs?: Record<string, string> } | undefined;
}

export interface NodePage {
  observed_at: Date;
  nodes: NodeRow[];
  /** There are others behind them. */
  more: boolean;
}

/** What a node `n` with its lease `l` is at the time `now.at`: the first that holds. */
const STATE = `
  CASE WHEN n.expires_at <= now.at THEN 'silent' WHEN l.node_id IS NOT NULL THEN 'busy' WHEN n.drain <> '' THEN 'draining'
       WHEN n.held_since IS NOT NULL THEN 'held' ELSE 'free' END`;

/** The types of what is given, which no list asks for whole; nobody asks for this. */
const GIVEN = 'given AS (SELECT $1::text, $2::boolean, $3::text, $4::text, $5::jsonb, $6::int, $7::int)';

/** What is not asked for is left out: with all that might be, a plan would sort the table for a page of it. */
function wantedOf({ state, node_id, offers }: NodeFilter, after: string | undefined): string {
  return [
    `NOT ${FORGOTTEN}`,
    '($2 OR n.expires_at > now.at)',
    ...(after === undefined ? [] : ['n.node_id > $1']),
    ...(state === undefined ? [] : [`${STATE} = $3`]),
    ...(node_id === undefined ? [] : ['n.node_id = $4']),
    ...(offers === undefined ? [] : ['n.capabilities @> $5']),
  ].join(' AND ');
}

/**
 * The nodes by node_id behind the given one, and when that was: all of them, or at most so many, and no more than fill the
 * bytes of a page. Of a page only what is on it is read, and what the filter passes over.
 */
export function readNodePage(filter: NodeFilter, limit: number | undefined, after: string | undefined): Read<NodePage> {
  return read({
    name: 'nodes.read-page',
    text: `
     WITH ${GIVEN},
     now AS MATERIALIZED (SELECT clock_timestamp() AS at),
     found AS MATERIALIZED (
       SELECT n.node_id, octet_length(n.capabilities::text) AS bytes
         FROM now CROSS JOIN nodes n LEFT JOIN leases l USING (node_id)
        WHERE ${wantedOf(filter, after)}
        ORDER BY n.node_id ${limit === undefined ? '' : 'LIMIT $6 + 1'}),
     listed AS (
       SELECT n.*
         FROM (SELECT node_id, row_number() OVER by_id AS place, sum(bytes) OVER by_id - bytes AS before
                 FROM found WINDOW by_id AS (ORDER BY node_id)) AS sized
         JOIN nodes n USING (node_id)
        ${limit === undefined ? '' : 'WHERE place <= $6 AND before < $7'})
     SELECT now.at AS observed_at, (SELECT count(*) FROM found)::int AS found, ${NODE_COLUMNS}
       FROM now LEFT JOIN listed n ON true ${WITH_LEASE}
      ORDER BY n.node_id`,
    params: [
      after ?? null,
      filter.all || filter.state !== undefined,
      filter.state ?? null,
      filter.node_id ?? null,
      filter.offers === undefined ? null : JSON.stringify([filter.offers]),
      limit ?? null,
      PAGE_BYTES,
    ],
    as: (rows: (NodeRow & { observed_at: Date; found: number })[]) => {
      const nodes = rows.filter((row) => row.node_id !== null);
      return { observed_at: rows[0]!.observed_at, nodes, more: rows[0]!.found > nodes.length };
    },
  });
}
