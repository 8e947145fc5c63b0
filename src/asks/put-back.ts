import type { Database } from '../platform/database/database.js';
import { lockRun } from '../steps/lock-run.sql.js';
import { type Notice, putBackNotice } from './notices.sql.js';

/** Leaves a notice that could not be sent for whoever looks next; its run is locked, so that the question stays as it is. */
export function putBack(database: Database, notice: Notice): Promise<void> {
  return database.transaction('put-back-notice', async (tx) => {
    await lockRun(tx, notice.run_id);
    await putBackNotice(tx, notice);
    tx.hint('asks');
  });
}
