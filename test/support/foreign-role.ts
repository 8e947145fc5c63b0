import type { TestDatabase } from './database.js';

/** A role that owns the database, and what it is given; `database` is reached as that role. */
export interface ForeignRole {
  name: string;
  database: TestDatabase;
  drop(): Promise<void>;
}

let made = 0;

/** Makes a role with these settings and rights, and gives it the database, which begins empty. */
export async function emptyForRole(
  database: TestDatabase,
  { settings = {}, attributes = '' }: { settings?: Record<string, string>; attributes?: string } = {},
): Promise<ForeignRole> {
  const name = `role_${process.pid}_${made++}`;
  const own = new URL(database.url.replace('@/', '@socket/'));
  const called = decodeURIComponent(own.pathname.slice(1));
  await database.sql(`CREATE ROLE ${name} LOGIN PASSWORD 'secret-of-${name}' ${attributes}`);
  await database.sql('DROP SCHEMA public CASCADE');
  await database.sql(`CREATE SCHEMA public AUTHORIZATION ${name}`);
  await database.sql(`ALTER DATABASE ${called} OWNER TO ${name}`);
  for (const [setting, value] of Object.entries(settings)) {
    await database.sql(`ALTER ROLE ${name} SET ${setting} = ${value}`);
  }
  const url = database.url.replace(/\/\/[^@/]*@/, `//${name}:secret-of-${name}@`);
  return {
    name,
    database: { ...database, url },
    drop: async () => {
      await database.sql(`REASSIGN OWNED BY ${name} TO CURRENT_USER`);
      await database.sql(`DROP OWNED BY ${name}`);
      await database.sql(`DROP ROLE ${name}`);
    },
  };
}
