import { isIP } from 'node:net';
import { readTokensFile } from '../access/read-tokens.js';
import { Config } from './config.js';
import { faultsOfDatabaseUrl } from './database-url.js';

/** All that is wrong with the environment, one sentence each. The process that meets it exits with 78 (EX_CONFIG). */
export class ConfigError extends Error {
  constructor(readonly faults: string[]) {
    super(faults.join('\n'));
  }
}

const MIB = 1024 * 1024;
const YEAR_SECONDS = 31_536_000;
/** A timer of Node waits at most 2^31 ms. */
const LONGEST_TIMER_SECONDS = 2_000_000;
/** No orchestrator waits for as long. */
const LONGEST_STOP_SECONDS = 86_400;
/** As many runs are kept in the row of a node, which every look at the fleet reads. */
const MOST_FAULTS = 100;
const MOST_PER_SECOND = 1_000_000;
/** Longer than any lock is waited for and than an open transaction may idle, so that a server which is there has answered. */
const ANSWER_SECONDS = 15;
/** A parked claim whose notice was lost waits for twice as long at most. */
const LISTEN_CHECK_SECONDS = 5;
const BODY_PAUSE_SECONDS = 60;
/** Whatever is wrong with a session that nobody can see ends with it; what it has planned, and its memory, too. */
const CONNECTION_LIFE_SECONDS = 1800;
const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'];

/** Reads the environment; an empty variable counts as not set. Throws a ConfigError that names every fault at once. */
export function readConfig(env: Record<string, string | undefined>): Config {
  const faults: string[] = [];
  const text = (name: string): string | undefined => env[name] || undefined;

  const number = (name: string, fallback: number, wanted: string, fits: (value: number) => boolean): number => {
    const given = text(name);
    const value = given === undefined ? fallback : /^-?\d+(\.\d+)?$/.test(given) ? Number(given) : NaN;
    if (fits(value)) return value;
    faults.push(`${name} must be ${wanted}; it is ${JSON.stringify(given)}`);
    // What is wrong by itself is compared with nothing.
    return NaN;
  };
  const whole = (name: string, fallback: number, least: number, most: number): number =>
    number(
      name,
      fallback,
      `a whole number from ${least} to ${most}`,
      (v) => Number.isInteger(v) && v >= least && v <= most,
    );
  const seconds = (name: string, fallback: number, most: number): number =>
    number(name, fallback, `a number of seconds above 0, at most ${most}`, (v) => v > 0 && v <= most);
  const secondsOrNone = (name: string, fallback: number, most: number): number =>
    number(name, fallback, `a number of seconds from 0 to ${most}`, (v) => v >= 0 && v <= most);
  const oneOf = (name: string, fallback: string, words: string[]): string => {
    const given = text(name) ?? fallback;
    if (!words.includes(given))
      faults.push(`${name} must be one of ${words.join(', ')}; it is ${JSON.stringify(given)}`);
    return given;
  };

  const tokensFile = text('MEDIATOR_TOKENS_FILE');
  const read = tokensFile === undefined ? undefined : readTokensFile(tokensFile);
  if (read?.ok === false) faults.push(...read.faults.map((fault) => `MEDIATOR_TOKENS_FILE ${tokensFile} ${fault}`));

  const config = new Config({
    databaseUrl: text('DATABASE_URL'),
    dataDir: text('MEDIATOR_DATA_DIR') ?? './.mediator',
    host: text('HOST') ?? '127.0.0.1',
    port: whole('PORT', 3000, 0, 65_535),
    tokensFile,
    tokens: read?.ok ? read.tokens : undefined,
    tokensWarning: read?.ok ? read.warning : undefined,
    insecure: oneOf('MEDIATOR_INSECURE', 'false', ['true', 'false']) === 'true',
    leaseTtlSeconds: seconds('MEDIATOR_LEASE_TTL_SECONDS', 3600, YEAR_SECONDS),
    renewSeconds: seconds('MEDIATOR_RENEW_SECONDS', 60, LONGEST_TIMER_SECONDS),
    notAfterFactor: number('MEDIATOR_NOT_AFTER_FACTOR', 3, 'a number from 2 to 1000', (v) => v >= 2 && v <= 1000),
    rememberSeconds: secondsOrNone('MEDIATOR_REMEMBER_SECONDS', 3600, YEAR_SECONDS),
    startSeconds: secondsOrNone('MEDIATOR_START_SECONDS', 600, YEAR_SECONDS),
    quarantineAfter: whole('MEDIATOR_QUARANTINE_AFTER', 5, 0, MOST_FAULTS),
    maxLeasesPerRun: whole('MEDIATOR_MAX_LEASES_PER_RUN', 0, 0, 100_000),
    maxBlobBytes: whole('MEDIATOR_MAX_BLOB_BYTES', 10 * MIB, 1, 1024 * MIB),
    maxLogBytes: whole('MEDIATOR_MAX_LOG_BYTES', 10 * MIB, 1, 1024 * MIB),
    maxRunBytes: whole('MEDIATOR_MAX_RUN_BYTES', 1024 * MIB, 1, 1024 * 1024 * MIB),
    askWebhookUrl: text('MEDIATOR_ASK_WEBHOOK_URL'),
    askWebhookSecret: text('MEDIATOR_ASK_WEBHOOK_SECRET'),
    dbPoolSize: whole('MEDIATOR_DB_POOL_SIZE', 10, 2, 1000),
    rateLimitPerSecond: number(
      'MEDIATOR_RATE_LIMIT_PER_SECOND',
      0,
      `a number from 0 (no limit) to ${MOST_PER_SECOND}`,
      (v) => v >= 0 && v <= MOST_PER_SECOND,
    ),
    logLevel: oneOf('LOG_LEVEL', 'info', LOG_LEVELS),
    stopSeconds: secondsOrNone('MEDIATOR_STOP_SECONDS', 25, LONGEST_STOP_SECONDS),
    lingerSeconds: secondsOrNone('MEDIATOR_LINGER_SECONDS', 0, LONGEST_STOP_SECONDS),
    answerSeconds: ANSWER_SECONDS,
    listenCheckSeconds: LISTEN_CHECK_SECONDS,
    bodyPauseSeconds: BODY_PAUSE_SECONDS,
    connectionLifeSeconds: CONNECTION_LIFE_SECONDS,
  });

  const { leaseTtlSeconds, renewSeconds, notAfterFactor, lifeSeconds } = config;
  // Twelve digits: 3 times 1.1 is 3.3.
  const least = Number(lifeSeconds.toPrecision(12));
  if (leaseTtlSeconds < least) {
    faults.push(
      `MEDIATOR_LEASE_TTL_SECONDS is ${leaseTtlSeconds} and must be at least ${least}, that is ` +
        `MEDIATOR_RENEW_SECONDS ${renewSeconds} times MEDIATOR_NOT_AFTER_FACTOR ${notAfterFactor}: a node that speaks ` +
        'when it is told to would lose its first lease before that',
    );
  }
  if (config.databaseUrl !== undefined) faults.push(...faultsOfDatabaseUrl(config.databaseUrl));
  if (config.askWebhookUrl !== undefined && !isPlainWebUrl(config.askWebhookUrl)) {
    faults.push('MEDIATOR_ASK_WEBHOOK_URL must be an http:// or https:// URL without a user and a password');
  }
  if (config.askWebhookSecret !== undefined && config.askWebhookUrl === undefined) {
    faults.push('MEDIATOR_ASK_WEBHOOK_SECRET signs what is posted to MEDIATOR_ASK_WEBHOOK_URL: set both, or unset it');
  }
  if (tokensFile !== undefined && config.insecure) {
    faults.push(
      'MEDIATOR_INSECURE must not be true beside MEDIATOR_TOKENS_FILE: it lets everybody in where there are no tokens, ' +
        'and does not where there are. Unset one of them',
    );
  }
  if (tokensFile === undefined && !config.insecure && !isLoopback(config.host)) {
    faults.push(
      `HOST is ${JSON.stringify(config.host)}, which others can reach, and without tokens everybody is operator: ` +
        'set MEDIATOR_TOKENS_FILE, listen on 127.0.0.1, ::1 or localhost, or set MEDIATOR_INSECURE=true if that is meant',
    );
  }
  if (faults.length > 0) throw new ConfigError(faults);
  return config;
}

/** The fetch API refuses a URL that carries credentials. */
function isPlainWebUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, username, password } = new URL(text);
  return /^https?:$/.test(protocol) && username === '' && password === '';
}

function isLoopback(host: string): boolean {
  if (host === 'localhost' || host === '::1') return true;
  return isIP(host) === 4 && host.startsWith('127.');
}
