import type { Database } from '../platform/database/database.js';
import { lockRun } from '../records/runs.sql.js';
import { deleteNotices, dropNotices, type Notice, putBackNotice } from './notices.sql.js';

/** Takes notices to be sent by this process alone, the oldest first: so many; or drops all, where there is no webhook. */
export function takeNotices(database: Database, most: number | 'drop'): Promise<Notice[]> {
  return database.transaction('take-notices', async (tx) => {
    if (most !== 'drop') return tx.ask(deleteNotices(most));
    await tx.ask(dropNotices());
    return [];
  });
}

/** Leaves a notice that could not be sent for whoever looks next; its run is locked, so that the question stays as it is. */
export function putBack(database: Database, notice: Notice): Promise<void> {
  return database.transaction('put-back-notice', async (tx) => {
    await tx.ask(lockRun(notice.run_id));
    await tx.ask(putBackNotice(notice));
    tx.notify('asks');
  });
}
