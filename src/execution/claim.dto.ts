import { ApiProperty } from '@nestjs/swagger';
import { IsInt, IsOptional, Max, Min } from 'class-validator';
import { AGENT_STEP, RUN_STEP } from '../domain/contract/step-kinds.js';
import { type AgentClaimFields, claimFields, type RunClaimFields } from '../domain/contract/claim-fields.js';
import { ApiChoice, ApiConst, ApiModel, ApiShape } from '../platform/http/api-model.decorator.js';
import { WholeNumber } from '../platform/http/validation.js';
import { AssignedRoleDto } from '../runs/run.dto.js';

const WAIT_RULE = { message: 'must be a whole number of seconds from 0 to 300' };

export class ClaimQueryDto {
  /** How many seconds to wait for a step, from 0 to 300. */
  @ApiProperty({ type: 'integer', minimum: 0, maximum: 300, required: false })
  @IsOptional()
  @WholeNumber()
  @IsInt(WAIT_RULE)
  @Min(0, WAIT_RULE)
  @Max(300, WAIT_RULE)
  wait: number = 30;
}

@ApiModel('ClaimLease', 'By what right the node does the step.')
class ClaimLeaseDto {
  run_id!: string;
  node_id!: string;
  /** To be sent as `Mediator-Lease` with every upload and the result. */
  nonce!: string;
  @ApiProperty({ format: 'date-time' })
  not_after!: string;
}

@ApiModel('ClaimedStep', 'What every claim tells.')
class ClaimedStepDto {
  run_id!: string;
  /** Place of the step in the contract, from 1. */
  @ApiProperty({ type: 'integer', minimum: 1 })
  seq!: number;
  /** To be sent back with the result. */
  @ApiProperty({ type: 'integer', minimum: 1 })
  attempt!: number;
  /** All roles of the run. */
  assigned!: AssignedRoleDto[];
  /** Who submitted the run. */
  principal!: string;
  lease!: ClaimLeaseDto;
}

@ApiModel('RunClaim', "A program that is the node's to run now.")
@TellsFieldsOf(RUN_STEP)
export class RunClaimDto extends ClaimedStepDto {
  /** `run` says what to do. */
  @ApiConst('run')
  kind!: 'run';
}

@ApiModel('AgentClaim', "A task of an agent that is the node's to do now.")
@TellsFieldsOf(AGENT_STEP)
export class AgentClaimDto extends ClaimedStepDto {
  /** `agent` says what to do. */
  @ApiConst('agent')
  kind!: 'agent';
}

@ApiChoice(
  'Claim',
  "A step that is the node's to do now; `kind` says whether it is a program or a task of an agent. Fields of the contract's " +
    'step that are absent there are absent here.',
  'kind',
  { run: RunClaimDto, agent: AgentClaimDto },
)
export class ClaimDto {}

export type Claimed = (RunClaimDto & RunClaimFields) | (AgentClaimDto & AgentClaimFields);

/** What a claim gives to the node of its step stands with the fields of the contract's step. */
function TellsFieldsOf(step: Parameters<typeof claimFields>[0]): ClassDecorator {
  return ({ prototype }) => {
    for (const { key, schema, means, required } of claimFields(step)) {
      ApiShape({ schema }, { description: means, required })(prototype as object, key);
    }
  };
}
