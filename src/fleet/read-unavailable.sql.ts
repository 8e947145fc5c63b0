import { EXPIRED_SECONDS } from './read-fleet-state.sql.js';
import type { Queryable } from '../platform/database/queryable.js';

/** Who cannot be taken, of those who could be live: busy (a lease row exists), draining (the last advert says so), or silent since an outage. */
export async function readUnavailable(database: Queryable): Promise<{ all: Set<string> }> {
  const { rows } = await database.query<{ node_id: string }>(
    `/* fleet.read-unavailable */
     SELECT n.node_id FROM nodes n LEFT JOIN leases l USING (node_id)
      WHERE (l.node_id IS NOT NULL OR n.drain <> '' OR n.revived)
        AND n.expires_at > clock_timestamp() - make_interval(secs => $1)`,
    [EXPIRED_SECONDS],
  );
  return { all: new Set(rows.map(({ node_id }) => node_id)) };
}
