/*
 * The databases of a benchmark: a migrated template, filled ones made from it where they are first wanted, and a fresh
 * clone of one of those for each figure whose state matters.
 */
import pg from 'pg';
import { DataSource } from 'typeorm';
import { MIGRATIONS } from '../../dist/migrations/all.js';
import { migrate } from '../../dist/src/platform/migrations/migrate.js';

const MIGRATED = 'bench_migrated';

export class Databases {
  #clones = 0;

  constructor(adminUrl) {
    this.adminUrl = adminUrl;
  }

  url(name) {
    return this.adminUrl.replace(/\/[^/?]*(\?|$)/, `/${name}$1`);
  }

  async connect(name) {
    const client = new pg.Client({ connectionString: this.url(name) });
    await client.connect();
    return client;
  }

  /** The name of a database filled so; made when it is first asked for, vacuumed and analyzed. */
  async filled(name, from, fill) {
    if (await this.#exists(name)) return name;
    const half = `${name}_half`;
    await this.#admin(`DROP DATABASE IF EXISTS ${half} WITH (FORCE)`);
    if (from === undefined) await this.#migrated();
    await this.#admin(`CREATE DATABASE ${half} TEMPLATE ${from ?? MIGRATED} STRATEGY FILE_COPY`);
    const client = await this.connect(half);
    try {
      await fill(client);
      await client.query('VACUUM (FREEZE, ANALYZE)');
    } finally {
      await client.end();
    }
    await this.#admin(`ALTER DATABASE ${half} RENAME TO ${name}`);
    return name;
  }

  /** A fresh copy of a filled database. What filling it has left to be written is written first. */
  async clone(template, label) {
    const name = `bench_${process.pid}_${this.#clones++}_${label}`;
    await this.#admin(`CREATE DATABASE ${name} TEMPLATE ${template} STRATEGY FILE_COPY`);
    return { name, url: this.url(name), connect: () => this.connect(name), drop: () => this.drop(name) };
  }

  async drop(name) {
    await this.#admin(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
  }

  async #exists(name) {
    return (await this.#admin('SELECT 1 FROM pg_database WHERE datname = $1', [name])).rows.length > 0;
  }

  async #migrated() {
    if (await this.#exists(MIGRATED)) return;
    await this.#admin(`CREATE DATABASE ${MIGRATED}`);
    const source = new DataSource({ type: 'postgres', url: this.url(MIGRATED), migrations: MIGRATIONS });
    await source.initialize();
    await migrate(source);
    await source.destroy();
  }

  async #admin(sql, params) {
    const client = new pg.Client({ connectionString: this.adminUrl });
    await client.connect();
    try {
      return await client.query(sql, params);
    } finally {
      await client.end();
    }
  }
}

/** What the view `invariants` finds in a database: a benchmark that breaks a promise measures nothing. */
export async function violations(client) {
  return (await client.query('SELECT rule, count(*)::int FROM invariants GROUP BY rule')).rows;
}
