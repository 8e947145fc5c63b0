import type { Database } from '../platform/database/database.js';
import { deleteNotices, type Notice } from './notices.sql.js';

/** Takes notices to be sent by this process alone, the oldest first: so many, or all of them (null). */
export function takeNotices(database: Database, most: number | null): Promise<Notice[]> {
  return database.transaction('take-notices', (tx) => deleteNotices(tx, most));
}
