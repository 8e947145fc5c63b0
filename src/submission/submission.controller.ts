import { Body, Controller, Headers, Post, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { isOver } from '../domain/states.js';
import { CONTRACT_LIMITS } from '../domain/contract/parse-contract.js';
import type { JsonDocument } from '../domain/json/read-json.js';
import { MayCall } from '../platform/access/may-call.decorator.js';
import { TakesJson } from '../platform/http/json-body.js';
import { Principal } from '../platform/http/principal.js';
import { Problem } from '../platform/http/problem.js';
import { ReleaseEdge } from '../queue/release-edge.js';
import type { ShownRun } from '../runs/run.dto.js';
import { AcceptContract } from './accept-contract.js';
import { AnswerSubmission } from './answer-submission.js';
import { SubmitRunApi } from './submission.api.js';
import { Submit } from './submit.js';

@ApiTags('runs')
@Controller('v1/runs')
export class SubmissionController {
  constructor(
    private readonly contracts: AcceptContract,
    private readonly submission: Submit,
    private readonly answer: AnswerSubmission,
    private readonly edge: ReleaseEdge,
  ) {}

  /** Submits a contract: its nodes are leased all at once, or the run waits for them. */
  @Post()
  @MayCall('submitter', 'operator')
  @TakesJson({ ...CONTRACT_LIMITS, whole: true })
  @SubmitRunApi()
  async submit(
    @Body() body: JsonDocument | undefined,
    @Principal() principal: string,
    @Headers('idempotency-key') idempotencyKey: string | undefined,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ShownRun> {
    const run = await this.contracts.accept(body, principal, idempotencyKey);
    const submitted = await this.edge.run(
      () => this.submission.submit(run),
      ({ kind }) => ({
        // A release can slip by between the look and the commit of the queued row.
        whys: kind === 'queued' ? ['enqueued'] : [],
        ended: kind === 'rejected' ? [run.run_id] : [],
      }),
    );
    if (submitted.kind === 'rejected') {
      throw new Problem(submitted.reason, submitted.detail, { members: { run_id: run.run_id } });
    }
    const known = submitted.kind === 'created' ? submitted.stored : undefined;
    let answer = await this.answer.to(run, submitted.kind, known);
    if (isOver(answer.shown.state) && answer.shown.record.state === 'OPEN') {
      // It was over as soon as it began: its acquires have skipped every step.
      await this.edge.sealEnded(run.run_id);
      answer = await this.answer.to(run, submitted.kind);
    }
    const { status, headers, shown } = answer;
    void reply.status(status).headers(headers);
    return shown;
  }
}
