import { Controller, Get, Headers, Param, Res, StreamableFile } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { MayCall } from '../platform/access/may-call.decorator.js';
import { namesTag } from '../platform/http/if-match.js';
import { DownloadRecordApi } from './download-record.api.js';
import { DownloadRecord } from './download-record.js';

@ApiTags('runs')
@Controller('v1/runs')
export class RecordsController {
  constructor(private readonly record: DownloadRecord) {}

  /** The sealed record as one tar; the same bytes each time. */
  @Get(':run_id/record')
  @MayCall('submitter', 'operator')
  @DownloadRecordApi()
  async download(
    @Param('run_id') runId: string,
    @Headers('if-none-match') ifNoneMatch: string | undefined,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<StreamableFile | undefined> {
    const record = await this.record.find(runId);
    const tag = `"${record.digest}"`;
    if (namesTag(ifNoneMatch, tag)) return void reply.status(304).header('etag', tag);
    const { length, bytes } = await this.record.pack(runId, record);
    void reply.header('etag', tag);
    return new StreamableFile(bytes, {
      type: 'application/x-tar',
      length,
      disposition: `attachment; filename="run-${runId}.tar"`,
    });
  }
}
