import { Injectable } from '@nestjs/common';
import { Config } from '../platform/config/config.js';
import { Database } from '../platform/database/database.js';
import { versionTag } from '../platform/http/if-match.js';
import { Problem } from '../platform/http/problem.js';
import type { ShownRun } from '../runs/run.dto.js';
import { type RunRow, readStored, type StoredRun } from '../runs/runs.sql.js';
import { ShowRun } from '../runs/show-run.js';
import type { NewRun } from './insert-run.sql.js';

export interface SubmissionAnswer {
  status: 200 | 201 | 202;
  headers: Record<string, string>;
  shown: ShownRun;
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

  /**
   * `known`: the run as it is stored, where that is known already. Throws run_id_taken where it is somebody else's: one
   * person's run is not another's success.
   */
  async to(run: NewRun, kind: 'existed' | 'created' | 'queued', known?: StoredRun): Promise<SubmissionAnswer> {
    const stored = known ?? (await readStored(this.database, run.run_id));
    if (stored === undefined) throw new Error(`run ${run.run_id} was stored and is not there`);
    const { row } = stored;
    if (row.principal !== run.principal) throw taken(row);
    const shown = await this.show.stored(stored);
    const headers = { location: `/v1/runs/${encodeURIComponent(run.run_id)}`, etag: versionTag(shown.version) };
    if (kind === 'existed') {
      const differs = row.contract_hash !== run.contract_hash;
      return { status: 200, headers, shown: { ...shown, ...(differs && { warnings: [DIFFERS] }) } };
    }
    if (shown.state !== 'QUEUED') return { status: 201, headers, shown };
    const retry = { 'retry-after': String(Math.ceil(this.config.renewSeconds)) };
    return { status: 202, headers: { ...headers, ...retry }, shown };
  }
}

/** Tells whose it is, and nothing else of it. */
function taken({ run_id, principal }: Pick<RunRow, 'run_id' | 'principal'>): Problem {
  const detail = `run ${run_id} already exists and belongs to ${principal}: submit under another id`;
  return new Problem('run_id_taken', detail, { members: { run_id, principal } });
}
