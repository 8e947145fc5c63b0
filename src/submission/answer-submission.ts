import { Injectable } from '@nestjs/common';
import { Config } from '../platform/config/config.js';
import { Database } from '../platform/database/database.js';
import { readRun } from '../runs/read-runs.sql.js';
import type { RunDto } from '../runs/run.dto.js';
import { ShowRun } from '../runs/show-run.js';
import type { NewRun } from './insert-run.sql.js';

export interface SubmissionAnswer {
  status: 200 | 201 | 202;
  headers: Record<string, string>;
  shown: RunDto;
}

const DIFFERS = 'a run of this id exists with another contract; the stored one stands';

/** Answers a submission by what the run is now, whoever promoted it meanwhile. */
@Injectable()
export class AnswerSubmission {
  constructor(
    private readonly database: Database,
    private readonly config: Config,
    private readonly show: ShowRun,
  ) {}

  async to(run: NewRun, kind: 'existed' | 'created' | 'queued'): Promise<SubmissionAnswer> {
    const row = await readRun(this.database, run.run_id);
    if (row === undefined) throw new Error(`run ${run.run_id} was stored and is not there`);
    const shown = await this.show.row(row);
    const headers = { location: `/v1/runs/${encodeURIComponent(run.run_id)}`, etag: `"${shown.version}"` };
    if (kind === 'existed') {
      const differs = row.contract_hash !== run.contract_hash;
      return { status: 200, headers, shown: { ...shown, ...(differs && { warnings: [DIFFERS] }) } };
    }
    if (shown.state !== 'QUEUED') return { status: 201, headers, shown };
    const retry = { 'retry-after': String(Math.ceil(this.config.renewSeconds)) };
    return { status: 202, headers: { ...headers, ...retry }, shown };
  }
}
