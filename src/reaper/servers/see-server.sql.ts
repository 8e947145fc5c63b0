import type { SharedSettings } from '../../platform/config/shared-settings.js';
import type { Tx } from '../../platform/database/queryable.js';

/** What a server tells the others of itself. */
export interface ThisServer {
  serverId: string;
  renewSeconds: number;
  factor: number;
  settings: SharedSettings;
}

/** Says that this server is there; also where another has taken its row for that of a lost one. */
export async function seeServer(tx: Tx, { serverId, renewSeconds, factor, settings }: ThisServer): Promise<void> {
  await tx.query(
    `/* reaper.see-server */
     INSERT INTO servers (server_id, renew_seconds, factor, settings) VALUES ($1, $2, $3, $4)
         ON CONFLICT (server_id) DO UPDATE SET seen_at = clock_timestamp()`,
    [serverId, renewSeconds, factor, JSON.stringify(settings)],
  );
}

/** Marks that this server has stopped by itself, with nothing left to make up for. */
export async function stopServer(tx: Tx, serverId: string): Promise<void> {
  await tx.query(
    `/* reaper.stop-server */
     UPDATE servers SET seen_at = clock_timestamp(), stopped_at = clock_timestamp() WHERE server_id = $1`,
    [serverId],
  );
}

/** Deletes the rows of servers that have stopped long ago: each start leaves one. */
export async function forgetStopped(tx: Tx, afterSeconds: number): Promise<void> {
  await tx.query(
    `/* reaper.forget-stopped */
     DELETE FROM servers WHERE stopped_at < clock_timestamp() - make_interval(secs => $1)`,
    [afterSeconds],
  );
}
