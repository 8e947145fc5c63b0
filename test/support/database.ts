import pg from 'pg';

export interface TestDatabase {
  url: string;
  /** Sends one statement, past the server under test. */
  sql<Row extends object = Record<string, unknown>>(text: string, params?: unknown[]): Promise<Row[]>;
  drop(): Promise<void>;
}

let created = 0;

/** A database of its own, cloned from the migrated template. */
export async function createDatabase(): Promise<TestDatabase> {
  const adminUrl = process.env.MEDIATOR_TEST_ADMIN_URL!;
  const name = `test_${process.pid}_${created++}`;
  await administer(adminUrl, `CREATE DATABASE ${name} TEMPLATE ${process.env.MEDIATOR_TEST_TEMPLATE!}`);
  const url = adminUrl.replace(/\/[^/?]*(\?|$)/, `/${name}$1`);
  const pool = new pg.Pool({ connectionString: url, max: 4 });
  pool.on('error', () => undefined);
  return {
    url,
    sql: async (text, params) => (await pool.query(text, params)).rows,
    drop: async () => {
      await pool.end();
      await administer(adminUrl, `DROP DATABASE ${name} WITH (FORCE)`);
    },
  };
}

async function administer(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
