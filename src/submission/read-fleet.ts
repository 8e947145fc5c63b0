import { RankedFleet } from '../domain/matching/ranked-fleet.js';
import { readAdverts } from '../fleet/read-adverts.sql.js';
import { readUnavailable, type Unavailable } from '../fleet/read-unavailable.sql.js';
import type { Queryable } from '../platform/database/queryable.js';

/** What a submission is matched against. */
export interface Fleet {
  adverts: RankedFleet;
  unavailable: Unavailable;
}

export async function readFleet(database: Queryable): Promise<Fleet> {
  const adverts = RankedFleet.of(await readAdverts(database));
  return { adverts, unavailable: await readUnavailable(database) };
}
