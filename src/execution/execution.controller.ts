import { Body, Controller, Headers, HttpCode, Param, Post, Query, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { isOver } from '../domain/states.js';
import { MayCall, OwnNode, refuseUnlessOwnNode } from '../platform/access/may-call.decorator.js';
import { CallerGone } from '../platform/http/caller-gone.js';
import { TakesJson, TakesNoBody } from '../platform/http/json-body.js';
import { INSTANCE, INSTANCE_RULE, NODE_ID, NODE_ID_RULE, stepSeq } from '../platform/http/path-parameters.js';
import { Problem } from '../platform/http/problem.js';
import { ReleaseEdge } from '../queue/release-edge.js';
import { StepOutcomeDto } from '../runs/step-outcome.dto.js';
import { type Claimed, ClaimQueryDto } from './claim.dto.js';
import { Claim } from './claim.js';
import { ClaimStepApi, ReportResultApi } from './execution.api.js';
import { ParkedClaims } from './parked-claims.js';
import { ReportResult } from './report-result.js';
import { ResultDto } from './result.dto.js';

@ApiTags('steps')
@Controller('v1')
export class ExecutionController {
  constructor(
    private readonly claims: Claim,
    private readonly parked: ParkedClaims,
    private readonly results: ReportResult,
    private readonly edge: ReleaseEdge,
  ) {}

  /** A node asks for its next step, and waits for one. */
  @Post('nodes/:node_id/claim')
  @MayCall('node', 'operator')
  @HttpCode(200)
  @TakesNoBody()
  @ClaimStepApi()
  async claim(
    @Param('node_id') nodeId: string,
    @Query() query: ClaimQueryDto,
    @Headers('mediator-instance') instance: string | undefined,
    @OwnNode() own: string | undefined,
    @CallerGone() gone: AbortSignal,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Claimed | undefined> {
    if (!NODE_ID.test(nodeId)) throw new Problem('invalid_request', `node_id ${NODE_ID_RULE}`);
    refuseUnlessOwnNode(own, nodeId);
    if (instance !== undefined && !INSTANCE.test(instance)) {
      throw new Problem('invalid_request', `Mediator-Instance ${INSTANCE_RULE}`);
    }
    const claimant = { node_id: nodeId, instance: instance ?? '', gone };
    let looks = 0;
    const claimed = await this.parked.wait(claimant, query.wait, () => this.claims.claim(claimant, looks++ === 0));
    if (claimed === undefined) void reply.status(204);
    return claimed;
  }

  /** A node reports what became of its step. */
  @Post('runs/:run_id/steps/:seq/result')
  @MayCall('node', 'operator')
  @HttpCode(200)
  @TakesJson({ bytes: 64 * 1024, values: 10_000, mended: ['error'] })
  @ReportResultApi()
  async report(
    @Param('run_id') runId: string,
    @Param('seq') seq: string,
    @Headers('mediator-lease') nonce: string | undefined,
    @Body() report: ResultDto,
    @OwnNode() own: string | undefined,
  ): Promise<StepOutcomeDto> {
    refuseUnlessOwnNode(own, report.node_id);
    if (!nonce) throw new Problem('invalid_request', 'the header Mediator-Lease must carry the nonce of the lease');
    const reported = { ...report, run_id: runId, seq: stepSeq(seq), nonce };
    const { step_state, rolled_back, run_state } = await this.edge.run(
      () => this.results.report(reported),
      ({ whys, ...outcome }) => ({ whys, ended: isOver(outcome.run_state) ? [runId] : [] }),
    );
    return { run_id: runId, seq: reported.seq, step_state, rolled_back, run_state };
  }
}
