import type { Config } from '../platform/config/config.js';
import type { Terms } from './terms.js';

/** The terms that the server was configured with. */
export function termsOf({ leaseTtlSeconds, maxLeasesPerRun }: Config): Terms {
  return { ttlSeconds: leaseTtlSeconds, maxLeases: maxLeasesPerRun };
}
