import type { Database } from '../platform/database/database.js';
import { deleteNotices, dropNotices, type Notice } from './notices.sql.js';

/** Takes notices to be sent by this process alone, the oldest first: so many; or drops all, where nobody is to be told. */
export function takeNotices(database: Database, most: number | 'drop'): Promise<Notice[]> {
  return database.transaction('take-notices', async (tx) => {
    if (most !== 'drop') return deleteNotices(tx, most);
    await dropNotices(tx);
    return [];
  });
}
