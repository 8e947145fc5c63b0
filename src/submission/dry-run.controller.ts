import { Body, Controller, Headers, HttpCode, Post } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { CONTRACT_LIMITS } from '../domain/contract/parse-contract.js';
import type { JsonDocument } from '../domain/json/read-json.js';
import { MayCall } from '../platform/access/may-call.decorator.js';
import { TakesJson } from '../platform/http/json-body.js';
import { Principal } from '../platform/http/principal.js';
import { AcceptContract } from './accept-contract.js';
import { DryRunDto } from './dry-run.dto.js';
import { DryRun } from './dry-run.js';
import { DryRunApi } from './submission.api.js';

@ApiTags('runs')
@Controller('v1/runs')
export class DryRunController {
  constructor(
    private readonly contracts: AcceptContract,
    private readonly dryRun: DryRun,
  ) {}

  /** What a submission of this contract would be assigned if every node were free. */
  @Post('dry-run')
  @MayCall('submitter', 'operator')
  @HttpCode(200)
  @TakesJson({ ...CONTRACT_LIMITS, whole: true })
  @DryRunApi()
  async try(
    @Body() body: JsonDocument | undefined,
    @Principal() principal: string,
    @Headers('idempotency-key') idempotencyKey: string | undefined,
  ): Promise<DryRunDto> {
    const { run_id, contract } = await this.contracts.accept(body, principal, idempotencyKey);
    return { run_id, state: 'DRY_RUN', assigned: await this.dryRun.assign(contract) };
  }
}
