import type { Tx } from '../../platform/database/queryable.js';

export interface Outage {
  /** When a server was last there to be spoken to; as text, with the microseconds that a Date would lose. */
  last_seen: string;
  seconds: number;
}

/** The outage that is behind us: no server, this one included, has been seen for so long. */
export async function readOutage(tx: Tx, silenceSeconds: number): Promise<Outage | undefined> {
  const { rows } = await tx.query<Outage>(
    `/* reaper.read-outage */
     SELECT max(seen_at)::text AS last_seen, extract(epoch FROM clock_timestamp() - max(seen_at))::float8 AS seconds
       FROM servers HAVING max(seen_at) < clock_timestamp() - make_interval(secs => $1)`,
    [silenceSeconds],
  );
  return rows[0];
}
