import { Controller, Get, Param, Res, StreamableFile } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { Database } from '../platform/database/database.js';
import { Problem } from '../platform/http/problem.js';
import { DownloadRecordApi } from './download-record.api.js';
import { packRecord } from './pack-record.js';
import { readRecord } from './read-record.sql.js';

@ApiTags('runs')
@Controller('v1/runs')
export class RecordsController {
  constructor(private readonly database: Database) {}

  /** The sealed record as one tar; the same bytes each time. */
  @Get(':run_id/record')
  @DownloadRecordApi()
  async download(
    @Param('run_id') runId: string,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<StreamableFile> {
    const record = await readRecord(this.database, runId);
    if (record === undefined) throw new Problem('not_found', `there is no run ${runId}`);
    const { closed_at, files, sums, digest } = record;
    if (digest === null || closed_at === null) {
      throw new Problem('not_sealed', 'the record is sealed when the run is over; ask again then');
    }
    if (files === null || sums === null) throw new Problem('not_found', `the record of run ${runId} was purged`);
    void reply.header('etag', `"${digest}"`);
    return new StreamableFile(packRecord({ run_id: runId, closed_at, files, sums }), {
      type: 'application/x-tar',
      disposition: `attachment; filename="run-${runId}.tar"`,
    });
  }
}
