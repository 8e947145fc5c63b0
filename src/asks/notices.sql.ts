import { type Write, write } from '../platform/database/statement.js';

/** A question that is to be sent to the webhook. */
export interface Notice {
  run_id: string;
  seq: number;
  id: string;
  attempt: number;
  work_id: string | null;
  principal: string;
  prompt: string;
  /** JSON, as it was sent. */
  schema: string;
  answerers: string[] | null;
  asked_at: Date;
  deadline: Date | null;
}

/**
 * Takes notices away, the oldest first, so many: what another process is taking is skipped. Gives
 * the questions that are still open. MATERIALIZED, since a LIMIT that is planned again for each row takes more than that.
 */
export function deleteNotices(most: number): Write<Notice[]> {
  return write({
    name: 'asks.delete-notices',
    text: `
     WITH due AS MATERIALIZED (
       SELECT run_id, seq, attempt FROM ask_notices ORDER BY raised_at, run_id, seq LIMIT $1 FOR UPDATE SKIP LOCKED),
     taken AS (
       DELETE FROM ask_notices n USING due d
        WHERE n.run_id = d.run_id AND n.seq = d.seq AND n.attempt = d.attempt
       RETURNING n.run_id, n.seq, n.attempt)
     SELECT a.run_id, a.seq, s.id, a.attempt, r.work_id, r.principal, a.prompt, a.schema::text AS schema, a.answerers, a.asked_at, a.deadline
       FROM taken JOIN asks a USING (run_id, seq, attempt) JOIN steps s USING (run_id, seq) JOIN runs r USING (run_id)
      WHERE a.state = 'OPEN' ORDER BY a.asked_at, a.run_id, a.seq`,
    params: [most],
    rows: 'any',
    as: (rows: Notice[]) => rows,
  });
}

/** Takes all notices away, unread: there is no webhook. What another process is taking is skipped. */
export function dropNotices(): Write<void> {
  return write({
    name: 'asks.drop-notices',
    text: `
     WITH due AS MATERIALIZED (SELECT run_id, seq, attempt FROM ask_notices FOR UPDATE SKIP LOCKED)
     DELETE FROM ask_notices n USING due d WHERE n.run_id = d.run_id AND n.seq = d.seq AND n.attempt = d.attempt`,
    rows: 'any',
  });
}

/** Leaves the notice for whoever comes, if its question is still open. Its run is locked, so that it stays so. */
export function putBackNotice({ run_id, seq, attempt }: Pick<Notice, 'run_id' | 'seq' | 'attempt'>): Write<void> {
  return write({
    name: 'asks.put-back-notice',
    text: `
     INSERT INTO ask_notices (run_id, seq, attempt, raised_at)
     SELECT run_id, seq, attempt, asked_at FROM asks
      WHERE run_id = $1 AND seq = $2 AND attempt = $3 AND state = 'OPEN'
         ON CONFLICT DO NOTHING`,
    params: [run_id, seq, attempt],
    rows: 'any',
  });
}
