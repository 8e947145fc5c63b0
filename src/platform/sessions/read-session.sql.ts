import type pg from 'pg';
import { SETTINGS } from './settings.js';

/** What a new session is, asked of itself. */
export interface SessionFacts {
  /** As `server_version_num` has it: 150012. */
  version: number;
  encoding: string;
  /** Of what has to hold; null where this PostgreSQL does not know it. */
  settings: Record<string, string | null>;
  /** It is a standby's. */
  recovering: boolean;
  read_only: boolean;
}

const NAMES = Object.keys(SETTINGS);

export async function readSession(client: pg.ClientBase): Promise<SessionFacts> {
  const { rows } = await client.query<SessionFacts>(
    `/* platform.read-session */
     SELECT current_setting('server_version_num')::int AS version, current_setting('server_encoding') AS encoding,
            (SELECT json_object_agg(name, current_setting(name, true)) FROM unnest($1::text[]) AS name) AS settings,
            pg_is_in_recovery() AS recovering, current_setting('transaction_read_only')::boolean AS read_only`,
    [NAMES],
  );
  return rows[0]!;
}

/** The server process that answers: it stays the same as long as the session does. */
export async function readBackend(client: pg.ClientBase): Promise<number> {
  const { rows } = await client.query<{ pid: number }>('/* platform.read-backend */ SELECT pg_backend_pid() AS pid');
  return rows[0]!.pid;
}

/** Whether that server process is at work; false where it has ended. */
export async function isAtWork(client: pg.ClientBase, pid: number): Promise<boolean> {
  const { rows } = await client.query(
    "/* platform.is-at-work */ SELECT FROM pg_stat_activity WHERE pid = $1 AND state = 'active'",
    [pid],
  );
  return rows.length > 0;
}
