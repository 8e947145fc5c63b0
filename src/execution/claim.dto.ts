import { ApiProperty } from '@nestjs/swagger';
import { IsInt, IsOptional, Max, Min } from 'class-validator';
import type { StepKind } from '../domain/contract/contract.js';
import { ApiModel } from '../platform/http/api-model.decorator.js';
import { WholeNumber } from '../platform/http/validation.js';
import { AgentTaskDto, OutputSchemasDto } from '../runs/contract-maps.dto.js';
import { AssignedRoleDto } from '../runs/run.dto.js';

const WAIT_RULE = { message: 'must be a whole number of seconds from 0 to 300' };

export class ClaimQueryDto {
  /** How many seconds to wait for a step, from 0 to 300. */
  @ApiProperty({ type: 'integer', minimum: 0, maximum: 300, default: 30, required: false })
  @IsOptional()
  @WholeNumber()
  @IsInt(WAIT_RULE)
  @Min(0, WAIT_RULE)
  @Max(300, WAIT_RULE)
  wait: number = 30;
}

@ApiModel('ClaimLease', 'By what right the node does the step.')
export class ClaimLeaseDto {
  run_id!: string;
  node_id!: string;
  /** To be sent as `Mediator-Lease` with every upload and the result. */
  nonce!: string;
  @ApiProperty({ format: 'date-time' })
  not_after!: string;
}

@ApiModel(
  'Claim',
  "A step that is the node's to do now. Fields of the contract's step that are absent there are absent here.",
)
export class ClaimDto {
  run_id!: string;
  /** Place of the step in the contract, from 1. */
  @ApiProperty({ type: 'integer', minimum: 1 })
  seq!: number;
  id!: string;
  /** Whether `run` or `agent` says what to do. */
  @ApiProperty({ enum: ['run', 'agent'], enumName: 'NodeStepKind' })
  kind!: StepKind;
  /** To be sent back with the result. */
  @ApiProperty({ type: 'integer', minimum: 1 })
  attempt!: number;
  /** The role in which the node does it. */
  uses!: string;
  /** The argv of a run step; no shell. */
  run?: string[];
  /** Of an agent step, untouched. */
  @ApiProperty({ type: AgentTaskDto, required: false })
  agent?: Record<string, unknown>;
  /** Names of environment variables to pass through. */
  env?: string[];
  /** Outputs to download first. */
  in?: string[];
  /** Outputs to upload. */
  out?: string[];
  /** What the outputs must satisfy. */
  @ApiProperty({ type: OutputSchemasDto, required: false })
  schema?: Record<string, unknown>;
  /** The step fails when it takes longer. */
  @ApiProperty({ type: 'integer', minimum: 1, required: false })
  timeout_seconds?: number;
  /** All roles of the run. */
  assigned!: AssignedRoleDto[];
  /** Who submitted the run. */
  principal!: string;
  lease!: ClaimLeaseDto;
}
