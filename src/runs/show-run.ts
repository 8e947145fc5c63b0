import { Injectable } from '@nestjs/common';
import type { Requirement } from '../domain/contract/contract.js';
import { rawJson } from '../domain/json/raw-json.js';
import { Database } from '../platform/database/database.js';
import type { Keyset } from '../platform/http/cursor.js';
import { fillPage } from '../platform/http/fill-page.js';
import { ExplainWaiting, mostWaitingBytes, type QueuedPlace } from '../queue/explain-waiting.js';
import type { WaitingDto } from '../queue/waiting.dto.js';
import { shownVersion } from './run-version.js';
import type { RunRecordDto, RunSummary, ShownRun } from './run.dto.js';
import { readRunPage, type RunFilter } from './run-page.sql.js';
import { readStored, type StoredRun, type RunRow, type StepRow } from './runs.sql.js';
import type { ShownStep } from './step.dto.js';

/** Runs as they are shown: a queued one with the reason why it waits. */
@Injectable()
export class ShowRun {
  constructor(
    private readonly database: Database,
    private readonly waiting: ExplainWaiting,
  ) {}

  /** Undefined where there is no such run. */
  async one(runId: string): Promise<ShownRun | undefined> {
    const stored = await readStored(this.database, runId);
    return stored && this.stored(stored);
  }

  async stored({ row, steps }: StoredRun): Promise<ShownRun> {
    const waiting = await this.waiting.explain(queued([row]));
    return { ...summaryOf(row, waiting), steps: steps.map(stepOf) };
  }

  /** At most so many, and no more than fill a page. */
  async page(filter: RunFilter, limit: number, after?: Keyset): Promise<{ items: RunSummary[]; next?: Keyset }> {
    const { rows, more } = await this.database.ask(readRunPage(filter, limit, after));
    const read = rows.map((row) => ({ row, queued: queued([row]) }));
    const items = await fillPage(read, {
      most: ({ row, queued }) => row.bytes + queued.reduce((sum, { requires }) => sum + mostWaitingBytes(requires), 0),
      show: async (some) => {
        const waiting = await this.waiting.explain(some.flatMap(({ queued }) => queued).reverse());
        return some.map(({ row }) => summaryOf(row, waiting));
      },
    });
    return { items, next: more || items.length < rows.length ? rows[items.length - 1]?.listed : undefined };
  }
}

function queued(rows: RunRow[]): QueuedPlace[] {
  return rows.flatMap((row) => {
    if (row.state !== 'QUEUED') return [];
    return [{ ...row, requires: JSON.parse(row.requires) as Requirement[] }];
  });
}

function summaryOf(row: RunRow, waiting: ReadonlyMap<string, WaitingDto>): RunSummary {
  const shown = {
    run_id: row.run_id,
    state: row.state,
    version: shownVersion(row),
    contract_hash: row.contract_hash,
    principal: row.principal,
    work_id: row.work_id,
    ...(row.work !== null && { work: rawJson<Record<string, unknown>>(row.work) }),
    requires: rawJson<Requirement[]>(row.requires),
    assigned: row.assigned ?? [],
    record: recordOf(row),
    created_at: row.created_at.toISOString(),
  };
  switch (row.state) {
    case 'QUEUED':
      return { ...shown, state: row.state, waiting: waiting.get(row.run_id)!, started_at: null, ended_at: null };
    case 'RUNNING':
      return { ...shown, state: row.state, started_at: row.started_at.toISOString(), ended_at: null };
    case 'SUCCEEDED':
    case 'FAILED':
    case 'CANCELLED': {
      const started_at = row.started_at?.toISOString() ?? null;
      return { ...shown, state: row.state, verdict: row.verdict, started_at, ended_at: row.ended_at.toISOString() };
    }
  }
}

function recordOf({ purged, digest }: RunRow): RunRecordDto {
  return { state: purged ? 'PURGED' : digest === null ? 'OPEN' : 'SEALED', digest };
}

/** Of whatever kind: what a step has besides is what the engine has written of one of its kind. */
function stepOf({ chosen, result, ...row }: StepRow): ShownStep {
  return {
    ...row,
    node_id: row.node_id === '' ? null : row.node_id,
    ...(chosen && { chosen }),
    started_at: row.started_at?.toISOString() ?? null,
    ended_at: row.ended_at?.toISOString() ?? null,
    ...(result !== null && { result: rawJson(result) }),
  } as ShownStep;
}
