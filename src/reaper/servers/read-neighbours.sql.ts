import type { SharedSettings } from '../../platform/config/shared-settings.js';
import type { Queryable } from '../../platform/database/queryable.js';
import { LIFE } from './periods.sql.js';

export interface Neighbour {
  server_id: string;
  settings: SharedSettings;
}

/** The other servers that are alive, each by its own period, and tell their settings: an older version does not. */
export async function readNeighbours(
  database: Queryable,
  serverId: string,
  ownLifeSeconds: number,
): Promise<Neighbour[]> {
  const { rows } = await database.query<Neighbour>(
    `/* reaper.read-neighbours */
     SELECT v.server_id, v.settings FROM servers v
      WHERE v.server_id <> $1 AND v.stopped_at IS NULL AND v.settings IS NOT NULL
        AND v.seen_at > clock_timestamp() - make_interval(secs => ${LIFE})
      ORDER BY v.started_at, v.server_id`,
    [serverId, ownLifeSeconds],
  );
  return rows;
}
