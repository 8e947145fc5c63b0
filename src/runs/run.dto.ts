import { ApiProperty } from '@nestjs/swagger';
import { type Requirement, REQUIREMENTS, WORK } from '../domain/contract/contract.js';
import { RUN_STATES, type RunState } from '../domain/states.js';
import { ApiModel, ApiShape } from '../platform/http/api-model.decorator.js';
import { WaitingDto } from '../queue/waiting.dto.js';
import { StepDto } from './step.dto.js';
import { VerdictDto } from './verdict.dto.js';

@ApiModel('AssignedNode', 'A node that a run was given.')
export class AssignedNodeDto {
  node_id!: string;
  /** For people. */
  label!: string;
}

@ApiModel('AssignedRole', 'The nodes that a role of a run was given.')
export class AssignedRoleDto {
  /** The role's name. */
  as!: string;
  /** Its steps run on the first. */
  nodes!: AssignedNodeDto[];
}

@ApiModel('RunRecord', 'How it stands with the record of a run.')
export class RunRecordDto {
  /** `OPEN` until the digest is there, `SEALED`, or (after retention) `PURGED`. */
  @ApiProperty({ enum: ['OPEN', 'SEALED', 'PURGED'], enumName: 'RecordState' })
  state!: 'OPEN' | 'SEALED' | 'PURGED';
  /** `sha256:` and the SHA-256 of the file SHA256SUMS; null until the record is sealed. */
  digest!: string | null;
}

@ApiModel('RunSummary', 'A run without its steps, as lists show it.')
export class RunSummaryDto {
  run_id!: string;
  /** `QUEUED`: it waits and holds nothing. `RUNNING`: it holds its nodes. The others are final. */
  @ApiProperty({ enum: RUN_STATES, enumName: 'RunState' })
  state!: RunState;
  /** Counts the changes of the run and its steps, and that its record was sealed or purged; it is the ETag, too. */
  @ApiProperty({ type: 'integer', minimum: 1 })
  version!: number;
  /** Who submitted it. */
  principal!: string;
  /** `<system>:<change_id>`; null where the contract names no work. */
  work_id!: string | null;
  /** As in the contract. */
  @ApiShape(WORK, { required: false })
  work?: Record<string, unknown>;
  /** As in the contract. */
  @ApiShape(REQUIREMENTS)
  requires!: Requirement[];
  /** Empty while the run is QUEUED. */
  assigned!: AssignedRoleDto[];
  /** Only while the run is QUEUED. */
  waiting?: WaitingDto;
  /** Only when the run is over. */
  verdict?: VerdictDto;
  record!: RunRecordDto;
  /** What the submitter should know, such as that the stored contract differs from the one sent. */
  warnings?: string[];
  @ApiProperty({ format: 'date-time' })
  created_at!: string;
  /** When it got its nodes. */
  @ApiProperty({ type: 'string', format: 'date-time' })
  started_at!: string | null;
  @ApiProperty({ type: 'string', format: 'date-time' })
  ended_at!: string | null;
}

@ApiModel('Run', 'A run with its steps.')
export class RunDto extends RunSummaryDto {
  /** In the order of the contract. */
  steps!: StepDto[];
}

@ApiModel('RunList', 'A page of runs.')
export class RunListDto {
  /** The newest first. */
  items!: RunSummaryDto[];
  /** Cursor of the next page; null at the end. */
  next!: string | null;
}
