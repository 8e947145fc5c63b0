import type { Token } from '../access/token.js';

export type ConfigValues = Omit<Config, 'lifeSeconds' | 'silenceSeconds'>;

/** The configuration of the process, read from its environment and checked once at start. Durations are in seconds and may be fractions. */
export class Config {
  /** None: an embedded PostgreSQL under `dataDir`. */
  readonly databaseUrl?: string;
  readonly dataDir!: string;
  readonly host!: string;
  readonly port!: number;
  /** None: open mode, everybody is operator. */
  readonly tokensFile?: string;
  /** Those that the file had at start. */
  readonly tokens?: readonly Token[];
  /** What was to be said of the file, though it was taken. */
  readonly tokensWarning?: string;
  /** Open mode may listen on more than loopback, and be asked by pages of others. */
  readonly insecure!: boolean;
  /** The first life of a lease. */
  readonly leaseTtlSeconds!: number;
  /** The period of the heartbeats of nodes, and of the reaper. */
  readonly renewSeconds!: number;
  /** Adverts and renewed leases live `renewSeconds` times this. */
  readonly notAfterFactor!: number;
  /** For so long a node whose advert has expired still exists, and a run that needs it waits; 0: it is gone at once. */
  readonly rememberSeconds!: number;
  /** A step that is ready on a live node which does nothing must be claimed in this time, or its run ends; 0: it need not. */
  readonly startSeconds!: number;
  /** So many runs in a row a node may end by its own doing, and the last puts it out of service; 0: as many as it will. */
  readonly quarantineAfter!: number;
  /** Distinct nodes a run may hold; 0: no cap. */
  readonly maxLeasesPerRun!: number;
  /** The largest output, in bytes. */
  readonly maxBlobBytes!: number;
  /** A log is cut there. */
  readonly maxLogBytes!: number;
  /** What a run may store in all, outputs and logs. */
  readonly maxRunBytes!: number;
  /** Where each raised question is posted. */
  readonly askWebhookUrl?: string;
  /** What those posts are signed with. */
  readonly askWebhookSecret?: string;
  readonly dbPoolSize!: number;
  /** Per token, or per address in open mode; 0: no limit. */
  readonly rateLimitPerSecond!: number;
  readonly logLevel!: string;
  /** The grace, when the process stops, for what is under way; 0: it is cut at once. */
  readonly stopSeconds!: number;
  /** So long after the signal to stop everything is still served, and /readyz says 503. */
  readonly lingerSeconds!: number;
  /** How long a statement may go without an answer before its connection is given up. No variable sets it. */
  readonly answerSeconds!: number;
  /** How often the listening connection, on which nothing may be said for hours, is asked whether it is there. Nor this. */
  readonly listenCheckSeconds!: number;
  /** How long nothing may come of a body that is read, and how long one that is read whole may take. Nor this. */
  readonly bodyPauseSeconds!: number;
  /** The longest life of a connection to the database. Nor this. */
  readonly connectionLifeSeconds!: number;

  constructor(values: ConfigValues) {
    Object.assign(this, values);
  }

  /** How long an advert lives, and a lease that its node renews. */
  get lifeSeconds(): number {
    return this.renewSeconds * this.notAfterFactor;
  }

  /** For how long no server has to be seen until that counts as an outage: a node that spoke just before is then due. */
  get silenceSeconds(): number {
    return this.renewSeconds * (this.notAfterFactor - 1);
  }
}
