import type { Queryable, Tx } from '../../platform/database/queryable.js';

/** Servers that were not seen for so long and did not stop by themselves. Unlocked: each is asked again when it is deleted. */
export async function findLost(database: Queryable, unseenSeconds: number): Promise<string[]> {
  const { rows } = await database.query<{ server_id: string }>(
    `/* reaper.find-lost-servers */
     SELECT server_id FROM servers
      WHERE stopped_at IS NULL AND seen_at < clock_timestamp() - make_interval(secs => $1)
      ORDER BY seen_at`,
    [unseenSeconds],
  );
  return rows.map((row) => row.server_id);
}

/** Deletes the row of a server that was not seen for so long and did not stop by itself; false: it was, or another has. */
export async function deleteLost(tx: Tx, serverId: string, unseenSeconds: number): Promise<boolean> {
  const { affected } = await tx.query(
    `/* reaper.delete-lost-server */
     DELETE FROM servers
      WHERE server_id = $1 AND stopped_at IS NULL AND seen_at < clock_timestamp() - make_interval(secs => $2)`,
    [serverId, unseenSeconds],
  );
  return affected === 1;
}
