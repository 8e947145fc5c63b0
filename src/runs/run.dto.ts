import { ApiProperty } from '@nestjs/swagger';
import { RUN_STATES, STEP_STATES, VERDICT_REASONS } from '../domain/states.js';
import type { RunState, StepState, VerdictReason } from '../domain/states.js';
import { STEP_KINDS, type StepKind } from '../domain/contract/contract.js';
import { RequirementDto, WaitingDto } from '../queue/waiting.dto.js';

export class AssignedNodeDto {
  node_id!: string;
  label!: string;
}

export class AssignedRoleDto {
  /** The role's name. */
  as!: string;
  /** Its steps run on the first. */
  nodes!: AssignedNodeDto[];
}

export class ActorDto {
  @ApiProperty({ enum: ['person', 'node', 'server'] })
  kind!: 'person' | 'node' | 'server';
  name!: string;
}

export class CheckDto {
  /** The step that was judged; absent: the run as a whole. */
  step?: string;
  what!: string;
  @ApiProperty({
    required: false,
    description: 'What would have been right.',
    oneOf: [{ type: 'integer' }, { type: 'string' }],
  })
  want?: unknown;
  @ApiProperty({ required: false, description: 'What was found.', oneOf: [{ type: 'integer' }, { type: 'string' }] })
  got?: unknown;
  ok!: boolean;
}

export class VerdictDto {
  @ApiProperty({ enum: VERDICT_REASONS, enumName: 'VerdictReason' })
  reason!: VerdictReason;
  /** A sentence for a person. */
  detail!: string;
  by!: ActorDto;
  checks!: CheckDto[];
}

export class StepResultDto {
  @ApiProperty({ type: 'integer', required: false })
  exit_code?: number;
  /** The outputs that the node said it uploaded. */
  produced?: string[];
  /** Why the step failed. */
  error?: string;
}

export class StepDto {
  /** Place in the contract, from 1. */
  @ApiProperty({ type: 'integer', minimum: 1 })
  seq!: number;
  id!: string;
  @ApiProperty({ enum: STEP_KINDS, enumName: 'StepKind' })
  kind!: StepKind;
  @ApiProperty({
    type: 'string',
    nullable: false,
    required: true,
    description: 'The role; null for steps without a node.',
  })
  uses!: string | null;
  @ApiProperty({ enum: STEP_STATES, enumName: 'StepState' })
  state!: StepState;
  /** The node it is bound to; null while the run waits. */
  node_id!: string | null;
  /** Ids of the steps that must be DONE or SKIPPED first. */
  needs!: string[];
  @ApiProperty({ type: 'integer', minimum: 1 })
  attempt!: number;
  /** True where a branch chose this step. */
  chosen?: boolean;
  @ApiProperty({ type: 'string', format: 'date-time' })
  started_at!: string | null;
  @ApiProperty({ type: 'string', format: 'date-time' })
  ended_at!: string | null;
  result?: StepResultDto;
}

export class RunRecordDto {
  @ApiProperty({ enum: ['OPEN', 'SEALED', 'PURGED'] })
  state!: 'OPEN' | 'SEALED' | 'PURGED';
  /** `sha256:` and the SHA-256 of SHA256SUMS; null until the record is sealed. */
  digest!: string | null;
}

/** A run without its steps, as lists show it. */
export class RunSummaryDto {
  run_id!: string;
  @ApiProperty({ enum: RUN_STATES, enumName: 'RunState' })
  state!: RunState;
  /** Counts the changes of the run and its steps. */
  @ApiProperty({ type: 'integer' })
  version!: number;
  /** Who submitted it. */
  principal!: string;
  /** `<system>:<change_id>`; null where the contract names no work. */
  work_id!: string | null;
  @ApiProperty({ selfRequired: false, type: 'object', additionalProperties: true, description: 'As in the contract.' })
  work?: Record<string, unknown>;
  requires!: RequirementDto[];
  /** Empty while the run is QUEUED. */
  assigned!: AssignedRoleDto[];
  /** Only while the run is QUEUED. */
  waiting?: WaitingDto;
  /** Only when the run is over. */
  verdict?: VerdictDto;
  record!: RunRecordDto;
  warnings?: string[];
  @ApiProperty({ format: 'date-time' })
  created_at!: string;
  @ApiProperty({ type: 'string', format: 'date-time' })
  started_at!: string | null;
  @ApiProperty({ type: 'string', format: 'date-time' })
  ended_at!: string | null;
}

export class RunDto extends RunSummaryDto {
  steps!: StepDto[];
}

export class RunListDto {
  items!: RunSummaryDto[];
  /** Cursor of the next page; null at the end. */
  next!: string | null;
}
