/** Of JSON, as PostgreSQL writes it: twice what an advert may be that is taken. */
const MOST_BYTES = 128 * 1024;

/**
 * What a node `n` offers, as JSON; nothing where its advert is larger than any that is taken, as one may be that was stored by
 * a server before there was a limit. Every reading of the fleet would carry it along otherwise.
 */
export const OFFERED = `
  CASE WHEN octet_length(n.capabilities::text) <= ${MOST_BYTES} THEN n.capabilities::text ELSE '[]' END::json`;
