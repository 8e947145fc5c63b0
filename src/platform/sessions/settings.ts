/**
 * What every session of ours relies on, whatever the role, the database or DATABASE_URL says; each value as SHOW gives it.
 * They go by the startup parameter `options`. Who writes a statement that depends on another one adds it here. Left to
 * whoever runs the database: `default_transaction_read_only`, by which writes are stopped for a while on purpose, and what
 * changes neither an answer nor what is durable.
 */
const SENT: Readonly<Record<string, string>> = {
  lock_timeout: '2s',
  idle_in_transaction_session_timeout: '10s',
  // A role's own would end what has to be waited for, a migration among it, and connections that nobody uses.
  statement_timeout: '0',
  idle_session_timeout: '0',
  // What was answered is there after a crash. Stronger than this is only what makes a standby show it, too.
  synchronous_commit: 'on',
  default_transaction_isolation: 'read committed',
  default_transaction_deferrable: 'off',
  // Rows that a policy hides are an error, and not an answer without them.
  row_security: 'off',
  search_path: 'public',
  // How values are written and read.
  DateStyle: 'ISO, MDY',
  IntervalStyle: 'postgres',
  TimeZone: 'UTC',
  bytea_output: 'hex',
  extra_float_digits: '1',
  // How statements and arrays are read.
  standard_conforming_strings: 'on',
  backslash_quote: 'safe_encoding',
  transform_null_equals: 'off',
  array_nulls: 'on',
  // What the migrations make.
  check_function_bodies: 'on',
  default_table_access_method: 'heap',
  // Plans are kept with the statements, and made from guesses: an array has ten elements, a table what it last had. One that
  // reads a table whole, alone or to join it, is good while it is small and bad for ever after; so are those of foreign
  // keys. Everything that is asked often is found by an index.
  enable_seqscan: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
  enable_indexscan: 'on',
  enable_bitmapscan: 'on',
  enable_nestloop: 'on',
  // To plan costs more than to do it. The guess for any parameters is never the better one, so it would be made each time.
  plan_cache_mode: 'force_generic_plan',
  // What it would cost to avoid that is made up, and no reason to compile.
  jit: 'off',
};

/** What has to hold in a session: what is sent, and what only a superuser may set or nobody can set here. */
export const SETTINGS: Readonly<Record<string, string>> = {
  ...SENT,
  client_encoding: 'UTF8',
  // Else triggers do not fire: those that keep a sealed record, and those that tell what was changed.
  session_replication_role: 'origin',
};

const escape = (value: string): string => value.replace(/[\\ ]/g, '\\$&');

/** The startup parameter `options`: what somebody else has set there, then ours, since the last one counts. */
export function optionsBehind(theirs: string | undefined): string {
  const ours = Object.entries(SENT).map(([name, value]) => `-c ${name}=${escape(value)}`);
  return [...(theirs ? [theirs] : []), ...ours].join(' ');
}
