import type { Config, ConfigValues } from './config.js';

/** What it is for the other servers of the same database: each may have its own, or all should have the same. */
type Kind =
  | 'of each'
  | { variable: string; /** Only whether it is set is compared: its value is nobody else's. */ onlyWhether?: true };

/** Of every setting there is: who adds one to the configuration has to say here which of the two it is. */
const SETTINGS: Readonly<Record<keyof ConfigValues, Kind>> = {
  databaseUrl: 'of each',
  dataDir: 'of each',
  host: 'of each',
  port: 'of each',
  tokensFile: 'of each',
  tokens: 'of each',
  tokensWarning: 'of each',
  insecure: 'of each',
  leaseTtlSeconds: { variable: 'MEDIATOR_LEASE_TTL_SECONDS' },
  renewSeconds: { variable: 'MEDIATOR_RENEW_SECONDS' },
  notAfterFactor: { variable: 'MEDIATOR_NOT_AFTER_FACTOR' },
  // What one server takes for gone another would let wait.
  rememberSeconds: { variable: 'MEDIATOR_REMEMBER_SECONDS' },
  // What one of them lets go on another ends, and a node that one trusts another takes out of service.
  startSeconds: { variable: 'MEDIATOR_START_SECONDS' },
  quarantineAfter: { variable: 'MEDIATOR_QUARANTINE_AFTER' },
  // A run that one server finds too wide is passed over there, and no event makes the other look.
  maxLeasesPerRun: { variable: 'MEDIATOR_MAX_LEASES_PER_RUN' },
  maxBlobBytes: { variable: 'MEDIATOR_MAX_BLOB_BYTES' },
  maxLogBytes: { variable: 'MEDIATOR_MAX_LOG_BYTES' },
  maxRunBytes: { variable: 'MEDIATOR_MAX_RUN_BYTES' },
  // A server without one takes away the notices that another would have sent.
  askWebhookUrl: { variable: 'MEDIATOR_ASK_WEBHOOK_URL', onlyWhether: true },
  askWebhookSecret: { variable: 'MEDIATOR_ASK_WEBHOOK_SECRET', onlyWhether: true },
  dbPoolSize: 'of each',
  rateLimitPerSecond: 'of each',
  logLevel: 'of each',
  stopSeconds: 'of each',
  lingerSeconds: 'of each',
  answerSeconds: 'of each',
  listenCheckSeconds: 'of each',
  bodyPauseSeconds: 'of each',
  connectionLifeSeconds: 'of each',
};

/** By the name of the variable. */
export type SharedSettings = Record<string, string | number | boolean>;

export interface Difference {
  variable: string;
  here: SharedSettings[string];
  there: SharedSettings[string];
}

/** What all servers of a database should agree on, as this one has it. */
export function sharedSettings(config: Config): SharedSettings {
  const shared: SharedSettings = {};
  for (const [name, kind] of Object.entries(SETTINGS)) {
    if (kind === 'of each') continue;
    const value = config[name as keyof ConfigValues] as SharedSettings[string] | undefined;
    shared[kind.variable] = value === undefined ? 'not set' : kind.onlyWhether ? 'set' : value;
  }
  return shared;
}

/** Where they differ. What one of them does not know, since it is older, is no difference. */
export function differences(here: SharedSettings, there: SharedSettings): Difference[] {
  return Object.keys(here)
    .filter((variable) => there[variable] !== undefined && there[variable] !== here[variable])
    .map((variable) => ({ variable, here: here[variable]!, there: there[variable]! }));
}
