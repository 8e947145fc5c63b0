import { Body, Controller, Get, HttpCode, Param, Post, Query, Req, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { JsonDocument } from '../domain/json/read-json.js';
import { isOver } from '../domain/states.js';
import { MayCall } from '../platform/access/may-call.decorator.js';
import { nextLink } from '../platform/http/cursor.js';
import { type IfMatch, IfMatchOf } from '../platform/http/if-match.js';
import { TakesJson } from '../platform/http/json-body.js';
import { PageQueryDto } from '../platform/http/page.dto.js';
import { stepSeq } from '../platform/http/path-parameters.js';
import { Principal } from '../platform/http/principal.js';
import { ReleaseEdge } from '../queue/release-edge.js';
import { StepOutcomeDto } from '../runs/step-outcome.dto.js';
import { AnswerAsk } from './answer-ask.js';
import { AskListDto } from './ask.dto.js';
import { AnswerAskApi, ListAsksApi } from './asks.api.js';
import { acceptAnswer } from './judge-answer.js';
import { fromInboxCursor, toInboxCursor, ShowInbox } from './show-inbox.js';

@ApiTags('asks')
@Controller('v1')
export class AsksController {
  constructor(
    private readonly inbox: ShowInbox,
    private readonly answers: AnswerAsk,
    private readonly edge: ReleaseEdge,
  ) {}

  /** The questions that are open, the oldest first. */
  @Get('asks')
  @MayCall('submitter', 'operator')
  @ListAsksApi()
  async list(
    @Query() page: PageQueryDto,
    @Principal() principal: string,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<AskListDto> {
    const { items, next } = await this.inbox.page(principal, page.limit, fromInboxCursor(page.cursor));
    const cursor = next ? toInboxCursor(next) : null;
    if (cursor) void reply.header('link', nextLink(request.url, cursor));
    return { items, next: cursor };
  }

  /** A person answers the question of a step. */
  @Post('runs/:run_id/steps/:seq/answer')
  @MayCall('submitter', 'operator')
  @HttpCode(200)
  @TakesJson({ bytes: 256 * 1024, whole: true })
  @AnswerAskApi()
  async answer(
    @Param('run_id') runId: string,
    @Param('seq') given: string,
    @Body() body: JsonDocument | undefined,
    @Principal() principal: string,
    @IfMatchOf() if_match: IfMatch | undefined,
  ): Promise<StepOutcomeDto> {
    const seq = stepSeq(given);
    const answer = acceptAnswer(body);
    const answered = { run_id: runId, seq, principal, answer, if_match };
    const { step_state, run_state } = await this.edge.run(
      () => this.answers.answer(answered),
      (outcome) => ({ whys: ['answer'], ended: isOver(outcome.run_state) ? [runId] : [] }),
    );
    return { run_id: runId, seq, step_state, rolled_back: false, run_state };
  }
}
