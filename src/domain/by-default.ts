/** Who has answered where nobody did in time and the question had a default. No principal is called so. */
export const BY_DEFAULT = 'default';

export const NOT_BY_DEFAULT = `must not be "${BY_DEFAULT}": that is who answers where nobody did in time`;
