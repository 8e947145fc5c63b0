import { ApiProperty } from '@nestjs/swagger';
import { Type } from 'class-transformer';
import { IsInt, IsOptional, Max, Min } from 'class-validator';
import type { StepKind } from '../domain/contract/contract.js';
import { AssignedRoleDto } from '../runs/run.dto.js';

const WAIT_RULE = { message: 'must be a whole number of seconds from 0 to 300' };

export class ClaimQueryDto {
  /** How long to wait for a step, in seconds. */
  @ApiProperty({ type: 'integer', minimum: 0, maximum: 300, default: 30, required: false })
  @IsOptional()
  @Type(() => Number)
  @IsInt(WAIT_RULE)
  @Min(0, WAIT_RULE)
  @Max(300, WAIT_RULE)
  wait: number = 30;
}

export class ClaimLeaseDto {
  run_id!: string;
  node_id!: string;
  /** To be sent as `Mediator-Lease` with every upload and the result. */
  nonce!: string;
  @ApiProperty({ format: 'date-time' })
  not_after!: string;
}

/** A step that is the node's to do now. */
export class ClaimDto {
  run_id!: string;
  @ApiProperty({ type: 'integer' })
  seq!: number;
  id!: string;
  @ApiProperty({ enum: ['run', 'agent'] })
  kind!: StepKind;
  @ApiProperty({ type: 'integer' })
  attempt!: number;
  /** The role in which the node does it. */
  uses!: string;
  /** The argv of a run step; no shell. */
  run?: string[];
  @ApiProperty({
    selfRequired: false,
    type: 'object',
    additionalProperties: true,
    description: 'Of an agent step, untouched.',
  })
  agent?: Record<string, unknown>;
  /** Names of environment variables to pass through. */
  env?: string[];
  /** Outputs to download first. */
  in?: string[];
  /** Outputs to upload. */
  out?: string[];
  @ApiProperty({
    selfRequired: false,
    type: 'object',
    additionalProperties: true,
    description: 'Output name → JSON Schema.',
  })
  schema?: Record<string, unknown>;
  timeout_seconds?: number;
  /** All roles of the run. */
  assigned!: AssignedRoleDto[];
  /** Who submitted the run. */
  principal!: string;
  lease!: ClaimLeaseDto;
}
