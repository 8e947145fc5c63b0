import type { Tx } from '../../platform/database/queryable.js';
import { LIFE, type OwnPeriods, SILENCE } from './periods.sql.js';

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
export async function readOutage(tx: Tx, own: OwnPeriods): Promise<Outage | undefined> {
  const { rows } = await tx.query<Outage>(
    `/* reaper.read-outage */
     SELECT last_seen::text, silent_since::text, life_seconds,
            extract(epoch FROM clock_timestamp() - last_seen)::float8 AS seconds
       FROM (SELECT max(v.seen_at) AS last_seen, max(v.seen_at + make_interval(secs => ${SILENCE})) AS silent_since,
                    greatest($2::float8, max(${LIFE})) AS life_seconds
               FROM servers v, (SELECT max(seen_at) AS at FROM servers) AS newest
              WHERE v.stopped_at IS NULL OR v.seen_at = newest.at) AS counted
      WHERE silent_since < clock_timestamp()`,
    [own.silenceSeconds, own.lifeSeconds],
  );
  return rows[0];
}
