import { ApiProperty } from '@nestjs/swagger';
import { type Requirement, REQUIREMENTS, WORK } from '../domain/contract/contract.js';
import { FINAL_STATES, type FinalState, RUN_STATES, type RunState } from '../domain/states.js';
import { ApiChoice, ApiConst, ApiModel, ApiShape, NOTHING } from '../platform/http/api-model.decorator.js';
import { WaitingDto } from '../queue/waiting.dto.js';
import { type ShownStep, StepDto } from './step.dto.js';
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

class AnyRunDto {
  run_id!: string;
  /** `QUEUED`: it waits and holds nothing. `RUNNING`: it holds its nodes. The others are final. */
  @ApiProperty({ enum: RUN_STATES, enumName: 'RunState' })
  state!: RunState;
  /** Counts the changes of the run and its steps, and that its record was sealed or purged; it is the ETag, too. */
  @ApiProperty({ type: 'integer', minimum: 1 })
  version!: number;
  /** SHA-256 of the contract in its canonical form (RFC 8785), in hex: equal where the same was asked for. */
  contract_hash!: string;
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
  record!: RunRecordDto;
  /** What the submitter should know, such as that the stored contract differs from the one sent. */
  warnings?: string[];
  @ApiProperty({ format: 'date-time' })
  created_at!: string;
}

@ApiModel('QueuedRunSummary', 'A run that waits for its nodes and holds nothing, without its steps.')
export class QueuedRunSummaryDto extends AnyRunDto {
  @ApiConst('QUEUED')
  declare state: 'QUEUED';
  waiting!: WaitingDto;
  @ApiShape(NOTHING)
  started_at!: null;
  @ApiShape(NOTHING)
  ended_at!: null;
}

@ApiModel('RunningRunSummary', 'A run that holds its nodes, without its steps.')
export class RunningRunSummaryDto extends AnyRunDto {
  @ApiConst('RUNNING')
  declare state: 'RUNNING';
  /** When it got its nodes. */
  @ApiProperty({ format: 'date-time' })
  started_at!: string;
  @ApiShape(NOTHING)
  ended_at!: null;
}

@ApiModel('EndedRunSummary', 'A run that is over, without its steps.')
export class EndedRunSummaryDto extends AnyRunDto {
  @ApiProperty({ enum: FINAL_STATES, enumName: 'FinalState' })
  declare state: FinalState;
  verdict!: VerdictDto;
  /** When it got its nodes; null where it never did, or waited again after. */
  @ApiProperty({ type: 'string', format: 'date-time' })
  started_at!: string | null;
  @ApiProperty({ format: 'date-time' })
  ended_at!: string;
}

@ApiChoice('RunSummary', 'A run without its steps, as lists show it; `state` says what else it has.', 'state', {
  QUEUED: QueuedRunSummaryDto,
  RUNNING: RunningRunSummaryDto,
  ...Object.fromEntries(FINAL_STATES.map((state) => [state, EndedRunSummaryDto])),
})
class RunSummaryDto {}

export type RunSummary = QueuedRunSummaryDto | RunningRunSummaryDto | EndedRunSummaryDto;

@ApiModel('QueuedRun', 'A run that waits for its nodes and holds nothing.')
export class QueuedRunDto extends QueuedRunSummaryDto {
  /** In the order of the contract. */
  @ApiProperty({ type: [StepDto] })
  steps!: ShownStep[];
}

@ApiModel('RunningRun', 'A run that holds its nodes.')
export class RunningRunDto extends RunningRunSummaryDto {
  /** In the order of the contract. */
  @ApiProperty({ type: [StepDto] })
  steps!: ShownStep[];
}

@ApiModel('EndedRun', 'A run that is over.')
export class EndedRunDto extends EndedRunSummaryDto {
  /** In the order of the contract. */
  @ApiProperty({ type: [StepDto] })
  steps!: ShownStep[];
}

@ApiChoice('Run', 'A run with its steps; `state` says what else it has.', 'state', {
  QUEUED: QueuedRunDto,
  RUNNING: RunningRunDto,
  ...Object.fromEntries(FINAL_STATES.map((state) => [state, EndedRunDto])),
})
export class RunDto {}

export type ShownRun = QueuedRunDto | RunningRunDto | EndedRunDto;

@ApiModel('RunList', 'A page of runs.')
export class RunListDto {
  /** The newest first: by when they were created, with `node_id` by when they were granted it. */
  @ApiProperty({ type: [RunSummaryDto] })
  items!: RunSummary[];
  /** Cursor of the next page; null at the end. */
  next!: string | null;
}
