import { Injectable } from '@nestjs/common';
import { THE_SERVER } from '../domain/verdict.js';
import { Database } from '../platform/database/database.js';
import { closeRecord } from '../records/records.sql.js';
import { insertRun, type NewRun } from './insert-run.sql.js';

/** Stores a run that can never go, FAILED from the start: asking again gets the same answer, and the record says why. */
@Injectable()
export class RejectRun {
  constructor(private readonly database: Database) {}

  reject(run: NewRun, reason: 'unsatisfiable' | 'too_wide', detail: string): Promise<'rejected' | 'existed'> {
    const verdict = { reason, detail, by: THE_SERVER, checks: [] };
    return this.database.transaction('reject', async (tx) => {
      if (!(await tx.ask(insertRun(run, { state: 'FAILED', verdict })))) return 'existed';
      tx.send(closeRecord(run.run_id));
      return 'rejected';
    });
  }
}
