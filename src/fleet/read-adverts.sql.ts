import type { Advert } from '../domain/matching/fleet.js';
import { OFFERED } from './offered.js';
import type { Queryable } from '../platform/database/queryable.js';

/** The live adverts, by node_id. */
export async function readAdverts(database: Queryable): Promise<Advert[]> {
  const { rows } = await database.query<Advert>(
    `/* fleet.read-adverts */
     SELECT node_id, label, ${OFFERED} AS capabilities, offer_rev::float8 AS offer_rev
       FROM nodes n WHERE expires_at > clock_timestamp() ORDER BY node_id`,
  );
  return rows;
}
