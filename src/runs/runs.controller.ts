import { Body, Controller, Get, Headers, HttpCode, Param, Post, Query, Req, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { MayCall } from '../platform/access/may-call.decorator.js';
import { fromCursor, toCursor, nextLink } from '../platform/http/cursor.js';
import { type IfMatch, IfMatchOf, versionTag, namesTag } from '../platform/http/if-match.js';
import { CalledBy, type Caller } from '../platform/http/principal.js';
import { Problem } from '../platform/http/problem.js';
import { ReleaseEdge } from '../queue/release-edge.js';
import { CancelRun } from './cancel-run.js';
import type { RunListDto, ShownRun } from './run.dto.js';
import { CancelDto, RunsQueryDto } from './runs-query.dto.js';
import { CancelRunApi, GetRunApi, ListRunsApi } from './runs.api.js';
import { ShowRun } from './show-run.js';

@ApiTags('runs')
@Controller('v1/runs')
export class RunsController {
  constructor(
    private readonly show: ShowRun,
    private readonly cancelRun: CancelRun,
    private readonly edge: ReleaseEdge,
  ) {}

  /** Runs, the newest first. */
  @Get()
  @MayCall('submitter', 'operator')
  @ListRunsApi()
  async list(
    @Query() query: RunsQueryDto,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<RunListDto> {
    const { items, next } = await this.show.page(query, query.limit, fromCursor(query.cursor));
    const cursor = next ? toCursor(next) : null;
    if (cursor) void reply.header('link', nextLink(request.url, cursor));
    return { items, next: cursor };
  }

  /** A run with its steps. */
  @Get(':run_id')
  @MayCall('submitter', 'operator')
  @GetRunApi()
  async get(
    @Param('run_id') runId: string,
    @Headers('if-none-match') ifNoneMatch: string | undefined,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ShownRun | undefined> {
    const run = await this.#shown(runId);
    const tag = versionTag(run.version);
    void reply.header('etag', tag);
    if (namesTag(ifNoneMatch, tag)) return void reply.status(304);
    return run;
  }

  /** Cancels a run, queued or under way; what is over already stays as it is. */
  @Post(':run_id/cancel')
  @MayCall('submitter', 'operator')
  @HttpCode(200)
  @CancelRunApi()
  async cancel(
    @Param('run_id') runId: string,
    @Body() body: CancelDto,
    @CalledBy() caller: Caller,
    @IfMatchOf() ifMatch: IfMatch | undefined,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ShownRun> {
    await this.edge.run(
      () => this.cancelRun.cancel(runId, caller, body.reason, ifMatch),
      (outcome) => (outcome === 'cancelled' ? { whys: ['cancel'], ended: [runId] } : { whys: [], ended: [] }),
    );
    const run = await this.#shown(runId);
    void reply.header('etag', versionTag(run.version));
    return run;
  }

  async #shown(runId: string): Promise<ShownRun> {
    const run = await this.show.one(runId);
    if (run === undefined) throw new Problem('not_found', `there is no run ${runId}`);
    return run;
  }
}
