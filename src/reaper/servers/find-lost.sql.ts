import type { Queryable, Tx } from '../../platform/database/queryable.js';
import { LIFE } from './periods.sql.js';

/**
 * Servers, but for this one, that were not seen for so long, each by its own period, and did not stop by themselves.
 * Unlocked: each is asked again when it is deleted.
 */
export async function findLost(database: Queryable, serverId: string, ownLifeSeconds: number): Promise<string[]> {
  const { rows } = await database.query<{ server_id: string }>(
    `/* reaper.find-lost-servers */
     SELECT v.server_id FROM servers v
      WHERE v.server_id <> $1 AND v.stopped_at IS NULL AND v.seen_at < clock_timestamp() - make_interval(secs => ${LIFE})
      ORDER BY v.seen_at`,
    [serverId, ownLifeSeconds],
  );
  return rows.map((row) => row.server_id);
}

/** Deletes the row of a server that was not seen for so long and did not stop by itself; false: it was, or another has. */
export async function deleteLost(tx: Tx, serverId: string, ownLifeSeconds: number): Promise<boolean> {
  const { affected } = await tx.query(
    `/* reaper.delete-lost-server */
     DELETE FROM servers v
      WHERE v.server_id = $1 AND v.stopped_at IS NULL AND v.seen_at < clock_timestamp() - make_interval(secs => ${LIFE})`,
    [serverId, ownLifeSeconds],
  );
  return affected === 1;
}
