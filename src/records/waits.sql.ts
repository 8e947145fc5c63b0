/** How a run waited, once. */
export interface Wait {
  queued_at: string;
  reason: string;
  /** Who held the nodes that it could have taken, when it was queued. */
  holders: unknown;
  promoted_at: string | null;
  /** By which whys it was promoted; null: it was not. */
  whys: string[] | null;
}

/** A time as the API writes it. to_jsonb would give microseconds and the session's zone. */
export const time = (column: string): string =>
  `to_char(${column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

/** How the run `r` waits, or waited last; only of one that has waited. */
export const LAST_WAIT = `
  jsonb_build_object('queued_at', ${time('r.queued_at')}, 'reason', r.wait_reason, 'holders', r.wait_holders,
                     'promoted_at', ${time('r.promoted_at')}, 'whys', r.promoted_whys)`;

/** Every time that the run `r` waited, the first first. */
export const WAITS = `
  CASE WHEN r.queued_at IS NULL THEN r.earlier_waits ELSE r.earlier_waits || ${LAST_WAIT} END`;
