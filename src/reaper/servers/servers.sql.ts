import type { SharedSettings } from '../../platform/config/shared-settings.js';
import { type Read, read, type Write, write } from '../../platform/database/statement.js';

/** The periods of the server that judges. One whose row does not tell its own, since it is older, is judged by these. */
export interface OwnPeriods {
  silenceSeconds: number;
  lifeSeconds: number;
}

/** As a part of a statement over `servers v`, with our own as $1: for how long it may go unseen until that counts as an outage. */
export const SILENCE = 'coalesce(v.renew_seconds * (v.factor - 1), $1::float8)';

/** With our own as $2: how long its adverts live, and for how long it may go unseen until it is lost. */
const LIFE = 'coalesce(v.renew_seconds * v.factor, $2::float8)';

/** What a server tells the others of itself. */
export interface ThisServer {
  serverId: string;
  renewSeconds: number;
  factor: number;
  settings: SharedSettings;
}

/** Says that this server is there; also where another has taken its row for that of a lost one. */
export function seeServer({ serverId, renewSeconds, factor, settings }: ThisServer): Write<void> {
  return write({
    name: 'reaper.see-server',
    text: `
     INSERT INTO servers (server_id, renew_seconds, factor, settings) VALUES ($1, $2, $3, $4)
         ON CONFLICT (server_id) DO UPDATE SET seen_at = clock_timestamp()`,
    params: [serverId, renewSeconds, factor, JSON.stringify(settings)],
    otherwise: 'gone',
  });
}

/** Marks that this server has stopped by itself, with nothing left to make up for. */
export function stopServer(serverId: string): Write<void> {
  return write({
    name: 'reaper.stop-server',
    text: `
     UPDATE servers SET seen_at = clock_timestamp(), stopped_at = clock_timestamp() WHERE server_id = $1`,
    params: [serverId],
    rows: 'any',
  });
}

/** Deletes the rows of servers that have stopped long ago: each start leaves one. */
export function forgetStopped(afterSeconds: number): Write<void> {
  return write({
    name: 'reaper.forget-stopped',
    text: `
     DELETE FROM servers WHERE stopped_at < clock_timestamp() - make_interval(secs => $1)`,
    params: [afterSeconds],
    rows: 'any',
  });
}

export interface Neighbour {
  server_id: string;
  settings: SharedSettings;
}

/** The other servers that are alive, each by its own period, and tell their settings: an older version does not. */
export function readNeighbours(serverId: string, ownLifeSeconds: number): Read<Neighbour[]> {
  return read({
    name: 'reaper.read-neighbours',
    text: `
     SELECT v.server_id, v.settings FROM servers v
      WHERE v.server_id <> $1 AND v.stopped_at IS NULL AND v.settings IS NOT NULL
        AND v.seen_at > clock_timestamp() - make_interval(secs => ${LIFE})
      ORDER BY v.started_at, v.server_id`,
    params: [serverId, ownLifeSeconds],
    as: (rows: Neighbour[]) => rows,
  });
}

export interface Outage {
  /** When a server was last there to be spoken to; as text, with the microseconds that a Date would lose. */
  last_seen: string;
  /** From when on nobody was counted on any more: who has spoken since has spoken to a server that came back. */
  silent_since: string;
  seconds: number;
  /** The longest life that one of these servers, or this one, gives to adverts: so long nodes need not speak. */
  life_seconds: number;
}

/**
 * The outage that is behind us: every server, this one included, has been silent for too long, each by its own period. One
 * that stopped counts where it was the last to be seen: who started after it has taken its place.
 */
export function readOutage(own: OwnPeriods): Read<Outage | undefined> {
  return read({
    name: 'reaper.read-outage',
    text: `
     SELECT last_seen::text, silent_since::text, life_seconds,
            extract(epoch FROM clock_timestamp() - last_seen)::float8 AS seconds
       FROM (SELECT max(v.seen_at) AS last_seen, max(v.seen_at + make_interval(secs => ${SILENCE})) AS silent_since,
                    greatest($2::float8, max(${LIFE})) AS life_seconds
               FROM servers v, (SELECT max(seen_at) AS at FROM servers) AS newest
              WHERE v.stopped_at IS NULL OR v.seen_at = newest.at) AS counted
      WHERE silent_since < clock_timestamp()`,
    params: [own.silenceSeconds, own.lifeSeconds],
    as: (rows: Outage[]) => rows[0],
  });
}

/**
 * Servers, but for this one, that were not seen for so long, each by its own period, and did not stop by themselves.
 * Unlocked: each is asked again when it is deleted.
 */
export function findLost(serverId: string, ownLifeSeconds: number): Read<string[]> {
  return read({
    name: 'reaper.find-lost-servers',
    text: `
     SELECT v.server_id FROM servers v
      WHERE v.server_id <> $1 AND v.stopped_at IS NULL AND v.seen_at < clock_timestamp() - make_interval(secs => ${LIFE})
      ORDER BY v.seen_at`,
    params: [serverId, ownLifeSeconds],
    as: (rows: { server_id: string }[]) => rows.map((row) => row.server_id),
  });
}

/** Deletes the row of a server that was not seen for so long and did not stop by itself; false: it was, or another has. */
export function deleteLost(serverId: string, ownLifeSeconds: number): Write<boolean> {
  return write({
    name: 'reaper.delete-lost-server',
    text: `
     DELETE FROM servers v
      WHERE v.server_id = $1 AND v.stopped_at IS NULL AND v.seen_at < clock_timestamp() - make_interval(secs => ${LIFE})`,
    params: [serverId, ownLifeSeconds],
    rows: 'any',
    as: (_rows, touched) => touched === 1,
  });
}
