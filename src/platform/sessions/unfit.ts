import { DatabaseUnfit, isUnreachable, sqlState } from './faults.js';

/** What a person can do about it, by what PostgreSQL says at the start. */
const ADVICE: readonly [RegExp, string][] = [
  [/^28...$/, 'see to the user and password in DATABASE_URL, and to what pg_hba.conf says of them'],
  [/^3D000$/, "create it by CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0, or name another in DATABASE_URL"],
  [/^3F000$/, 'create the schema public, in which the tables stand'],
  [
    /^42501$/,
    'the user in DATABASE_URL needs every right on its database and on the schema public; let it own both, and what the Mediator has made there',
  ],
  [
    /^(42P07|42710|42723)$/,
    'somebody else has put that into the schema public; give the Mediator a database of its own in DATABASE_URL',
  ],
];
const CONNECTING: readonly [RegExp, string][] = [
  [
    /^(42704|22023|42601)$/,
    'see to "options" in DATABASE_URL; what the Mediator itself adds to it is known to PostgreSQL 15 and newer',
  ],
  [/^\w{5}$/, 'see to DATABASE_URL'],
];

/** What pg and Node say of TLS and passwords; such an error has no SQLSTATE. */
const DRIVER = /SSL|TLS|certificate|SASL|password|Port should be/i;
const POOLER = /unsupported startup parameter/;

/** The same error as a sentence that says what to do, where waiting does not help; any other as it is. */
export function unfitOr(error: unknown, when: 'connecting' | 'later'): unknown {
  if (error instanceof DatabaseUnfit || !(error instanceof Error)) return error;
  const [said = ''] = error.message.split('\n', 1);
  if (POOLER.test(said)) {
    return unfit(
      said,
      'a pooler refuses what the Mediator sets for its sessions; let DATABASE_URL lead to PostgreSQL itself, ' +
        'or to a pooler that works by sessions and passes the startup parameter "options" on',
    );
  }
  if (isUnreachable(error)) return error;
  const state = sqlState(error);
  if (state === undefined)
    return when === 'connecting' && DRIVER.test(said) ? unfit(said, 'see to DATABASE_URL') : error;
  const advice = [...ADVICE, ...(when === 'connecting' ? CONNECTING : [])].find(([states]) => states.test(state));
  return advice === undefined ? error : unfit(said, advice[1]);
}

function unfit(said: string, advice: string): DatabaseUnfit {
  return new DatabaseUnfit(`the database cannot be used: ${said}; ${advice}`);
}
