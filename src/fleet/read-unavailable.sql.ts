import type { Queryable } from '../platform/database/queryable.js';

export interface Holder {
  node_id: string;
  run_id: string;
  since: string;
  not_after: string;
}

/** Who cannot be taken, and why: only those who explain a wait to a person look beyond `all`. */
export interface Unavailable {
  all: Set<string>;
  busy: Map<string, Holder>;
  draining: Set<string>;
  /** Revived after an outage and not heard of since. */
  silent: Set<string>;
}

interface Row {
  node_id: string;
  draining: boolean;
  silent: boolean;
  run_id: string | null;
  since: Date;
  not_after: Date;
}

/**
 * Busy (a lease row exists), draining (the last advert says so), or silent since an outage; in one statement. Of these
 * nodes; of all where none are named.
 */
export async function readUnavailable(database: Queryable, nodeIds?: string[]): Promise<Unavailable> {
  const { rows } = await database.query<Row>(
    `/* fleet.read-unavailable */
     SELECT n.node_id, n.drain <> '' AS draining, n.revived AS silent, l.run_id, l.granted_at AS since, l.not_after
       FROM nodes n LEFT JOIN leases l USING (node_id)
      WHERE (l.node_id IS NOT NULL OR n.drain <> '' OR n.revived) AND ($1::text[] IS NULL OR n.node_id = ANY ($1))
      ORDER BY n.node_id`,
    [nodeIds ?? null],
  );
  const unavailable: Unavailable = { all: new Set(), busy: new Map(), draining: new Set(), silent: new Set() };
  for (const { node_id, draining, silent, run_id, since, not_after } of rows) {
    unavailable.all.add(node_id);
    if (draining) unavailable.draining.add(node_id);
    if (silent) unavailable.silent.add(node_id);
    if (run_id !== null) {
      const holder = { node_id, run_id, since: since.toISOString(), not_after: not_after.toISOString() };
      unavailable.busy.set(node_id, holder);
    }
  }
  return unavailable;
}
