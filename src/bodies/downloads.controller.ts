import { Controller, Get, Param, Query, Req, Res, type StreamableFile } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { MayCall, OwnNode } from '../platform/access/may-call.decorator.js';
import { answerBytes, openRangeStart } from '../platform/http/answer-bytes.js';
import { CallerGone } from '../platform/http/caller-gone.js';
import { preferredWait } from '../platform/http/prefer.js';
import { Problem } from '../platform/http/problem.js';
import { ReadLogQueryDto } from './bodies.dto.js';
import { DownloadBlobApi, ReadLogApi } from './downloads.api.js';
import { FollowLog, type WantedLog } from './follow-log.js';
import { ReadBytes } from './read-bytes.js';

@ApiTags('runs')
@Controller('v1/runs/:run_id')
export class DownloadsController {
  constructor(
    private readonly bytes: ReadBytes,
    private readonly logs: FollowLog,
  ) {}

  /** The newest upload of an output. */
  @Get('blobs/:name')
  @MayCall('submitter', 'node', 'operator')
  @DownloadBlobApi()
  async blob(
    @Param('run_id') runId: string,
    @Param('name') name: string,
    @OwnNode() own: string | undefined,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<StreamableFile | undefined> {
    if (own !== undefined) await this.bytes.refuseUnlessHeld(runId, own);
    const found = await this.bytes.findBlob(runId, name);
    if (found === undefined) throw new Problem('not_found', `run ${runId} has no output ${name}`);
    const { upload_id, media_type, size, sha256 } = found;
    return answerBytes(request, reply, {
      size,
      type: media_type,
      tag: `"${sha256}"`,
      saveAs: name.replace(/[^\w.-]/g, '_'),
      read: (first, end) => this.bytes.ofBlob(upload_id, first, end),
    });
  }

  /** What a step has written so far, and more as it comes. */
  @Get('steps/:seq/log')
  @MayCall('submitter', 'operator')
  @ReadLogApi()
  async log(
    @Param('run_id') runId: string,
    @Param('seq') seq: string,
    @Query() query: ReadLogQueryDto,
    @Req() request: FastifyRequest,
    @CallerGone() gone: AbortSignal,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<StreamableFile | undefined> {
    const none = new Problem('not_found', `there is no log ${query.name} of step ${seq} of run ${runId}`);
    if (!/^[1-9]\d{0,8}$/.test(seq)) throw none;
    const wanted = { run_id: runId, seq: Number(seq), name: query.name, attempt: query.attempt ?? null };
    const { log, still } = await this.#look(wanted, request, reply, gone);
    if (still !== undefined) {
      if (still !== null) void reply.header('mediator-attempt', String(still));
      return void reply.status(204);
    }
    if (log === undefined || log.size === null) throw none;
    const key = { ...wanted, attempt: log.attempt };
    return answerBytes(request, reply, {
      size: log.size,
      type: 'text/plain; charset=utf-8',
      headers: { 'Mediator-Attempt': String(log.attempt) },
      read: (first, end) => this.bytes.ofLog(key, first, end),
    });
  }

  /** Waits where that is preferred and nothing else is asked for than what comes next. */
  async #look(
    wanted: WantedLog,
    { method, headers }: FastifyRequest,
    reply: FastifyReply,
    gone: AbortSignal,
  ): ReturnType<FollowLog['follow']> {
    const [seconds, from] = [preferredWait(headers.prefer), openRangeStart(headers.range)];
    void reply.header('vary', 'Prefer');
    if (method !== 'GET' || seconds === undefined || from === undefined) {
      return { log: await this.logs.find(wanted) };
    }
    void reply.header('preference-applied', `wait=${seconds}`);
    return this.logs.follow(wanted, from, { seconds, gone });
  }
}
