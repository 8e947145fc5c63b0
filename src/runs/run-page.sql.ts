import { isOver, RUN_STATES, type RunState } from '../domain/states.js';
import { grantWalk, lastGrantBefore, overlaps } from '../leases/grants-of-time.sql.js';
import { type NewestFirst, newestFirst, untilTime } from '../platform/database/newest-first.sql.js';
import { type Read, read } from '../platform/database/statement.js';
import type { Keyset } from '../platform/http/cursor.js';
import { PAGE_BYTES } from '../platform/http/fill-page.js';
import { RUN_COLUMNS, type RunRow } from './runs.sql.js';

export interface RunFilter {
  state?: RunState;
  work_id?: string;
  principal?: string;
  /** Runs that hold or held it. */
  node_id?: string;
  /** Runs that had not ended by then; with `node_id`: that had not given it back. */
  from?: string;
  /** Runs that were there by then; with `node_id`: that had been granted it. */
  to?: string;
}

/** A row of a page, about how large it is, and where it stands in the list. */
export type PagedRun = RunRow & { bytes: number; listed: Keyset };

/** About what of a run `r` a list shows. Of the contract, which is read for it, an eighth: most of it is not shown. */
const SHOWN_BYTES = `
  (octet_length(r.requires::text) + coalesce(octet_length(r.assigned::text), 0) + coalesce(octet_length(r.verdict::text), 0)
   + octet_length(r.contract::text) / 8)`;

/**
 * A page of runs behind the given place: at most so many, and no more than fill the bytes; `more`: there are others behind
 * them. The newest first: by when they were created, with `node_id` by when they were granted it. First the place of each is
 * found; then they are sized one after the other, since to size one is to read all of it.
 */
export function readRunPage(
  filter: RunFilter,
  limit: number,
  after: Keyset | undefined,
): Read<{ rows: PagedRun[]; more: boolean }> {
  return read({
    name: 'runs.read-page',
    text: `
     WITH RECURSIVE ${GIVEN},
     found AS MATERIALIZED (
       SELECT run_id, at, no FROM ((${partsOf(filter, after).join(') UNION ALL (')})) AS part
        ORDER BY at DESC, no DESC LIMIT $9 + 1),
     listed AS MATERIALIZED (
       SELECT array_agg(run_id ORDER BY at DESC, no DESC) AS run_ids,
              array_agg(json_build_object('created_at', at::text, 'seq', no::text) ORDER BY at DESC, no DESC) AS places
         FROM found),
     page AS (
       SELECT 0 AS n, 0 AS bytes, 0 AS before
        UNION ALL
       SELECT page.n + 1, ${SHOWN_BYTES}, page.before + page.bytes
         FROM page CROSS JOIN listed JOIN runs r ON r.run_id = listed.run_ids[page.n + 1]
        WHERE page.n < $9 AND page.before + page.bytes < $10)
     SELECT ${RUN_COLUMNS}, page.bytes, listed.places[page.n] AS listed, cardinality(listed.run_ids) AS found
       FROM page CROSS JOIN listed JOIN runs r ON r.run_id = listed.run_ids[page.n] JOIN records c USING (run_id)
      ORDER BY page.n`,
    params: [
      filter.state ?? null,
      filter.work_id ?? null,
      filter.principal ?? null,
      filter.node_id ?? null,
      filter.from ?? null,
      filter.to ?? null,
      after?.created_at ?? null,
      after?.seq ?? null,
      limit,
      PAGE_BYTES,
    ],
    as: (rows: (PagedRun & { found: number })[]) => ({
      rows,
      more: rows.length > 0 && rows[0]!.found > rows.length,
    }),
  });
}

/** So that each parameter has a type, though no list asks for all of them; nobody asks for this. */
const GIVEN = `
  given AS (
    SELECT $1::text, $2::text, $3::text, $4::text, $5::timestamptz, $6::timestamptz, $7::timestamptz, $8::bigint)`;
const PLACE = { at: '$7', no: '$8' };
type Place = typeof PLACE | undefined;

/** The parts that the list is made of, each in its order and no longer than a page. */
function partsOf(filter: RunFilter, after: Keyset | undefined): string[] {
  const place = after && PLACE;
  if (filter.node_id !== undefined) return partsOfNode(filter, place);
  const walk = { at: 'r.created_at', no: 'r.seq', until: ['<=', untilTime('$6')], after: place } as const;
  // A work has few runs: they are read by the work, whenever they were.
  if (filter.work_id !== undefined) return [partOf(filter, { ...walk, of: { column: 'r.work_id', value: '$2' } })];
  return partsOfTime(filter, walk);
}

/**
 * What was created within the time is read in its order. Of what was created before it, whatever existed when it began: by
 * their states the runs that are not over yet, and by their lives those that are. So what is read does not grow with the
 * history.
 */
function partsOfTime(filter: RunFilter, walk: NewestFirst): string[] {
  const { state, from } = filter;
  const ofState = (value: string): NewestFirst => ({ ...walk, of: { column: 'r.state', value } });
  const whole = state === undefined ? walk : ofState('$1');
  if (from === undefined) return [partOf(filter, whole)];
  const before = { until: ['<', '$5'] } as const;
  const open = RUN_STATES.filter((one) => !isOver(one) && (state === undefined || state === one));
  const over = state === undefined || isOver(state) ? [partOf(filter, { ...walk, ...before }, `(${OVER_SINCE})`)] : [];
  return [
    partOf(filter, { ...whole, from: '$5' }),
    ...open.map((one) => partOf(filter, { ...ofState(`'${one}'`), ...before })),
    ...over,
  ];
}

/** What existed when the time began and is over now. Nothing else is asked for here, so that this index is used. */
const OVER_SINCE = `/* runs.over-since */
  SELECT r.* FROM runs r
   WHERE r.ended_at IS NOT NULL AND tstzrange(least(r.created_at, r.ended_at), r.ended_at, '[)') @> $5::timestamptz OFFSET 0`;

function partOf(filter: RunFilter, walk: NewestFirst, runs = 'runs'): string {
  const { where, order } = newestFirst(walk);
  return `/* runs.part-of-page */
    SELECT r.run_id, r.created_at AS at, r.seq AS no FROM ${runs} AS r
     WHERE ${where} AND ${wantedOf(filter)} ${filter.from === undefined ? '' : 'AND (r.ended_at IS NULL OR r.ended_at > $5)'}
     ${order} LIMIT $9 + 1`;
}

/** The runs of the grants of a node, each by the last one of those that overlap the time. */
function partsOfNode(filter: RunFilter, after: Place): string[] {
  const walk = { ...grantWalk('$4'), until: ['<=', untilTime('$6')], after } as const;
  if (filter.from === undefined) return [partOfNode(filter, walk)];
  const before = { ...walk, until: ['<', '$5'] } as const;
  return [partOfNode(filter, { ...walk, from: '$5' }), partOfNode(filter, before, `(${lastGrantBefore('$5', '$4')})`)];
}

function partOfNode(filter: RunFilter, walk: NewestFirst, grants = 'grants'): string {
  const { where, order } = newestFirst(walk);
  const time = { from: '$5', to: '$6' };
  return `/* runs.part-of-node */
    SELECT r.run_id, g.granted_at AS at, g.grant_id AS no FROM ${grants} AS g JOIN runs r USING (run_id)
     WHERE ${where} AND ${overlaps(time)} AND ${wantedOf(filter)} ${filter.work_id === undefined ? '' : 'AND r.work_id = $2'}
       AND NOT EXISTS (
             SELECT FROM grants later
              WHERE later.run_id = g.run_id AND later.node_id = g.node_id AND ${overlaps(time, 'later')}
                AND (later.granted_at, later.grant_id) > (g.granted_at, g.grant_id))
     ${order} LIMIT $9 + 1`;
}

/** What is wanted of a run `r`, whatever it is found by. That it has the state is no reason to look for it by that. */
function wantedOf({ state }: RunFilter): string {
  return `($3::text IS NULL OR r.principal = $3) ${state === undefined ? '' : 'AND (r.state = $1) IS TRUE'}`;
}
