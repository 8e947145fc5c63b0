import { ApiProperty } from '@nestjs/swagger';
import type { StepKind } from '../domain/contract/contract.js';
import { ANSWER } from '../domain/contract/step-parts.js';
import { STEP_STATES, type StepState } from '../domain/states.js';
import { ApiChoice, ApiConst, ApiModel, ApiShape, NOTHING } from '../platform/http/api-model.decorator.js';

class AnyResultDto {
  /** Why the step failed. */
  error?: string;
  /** The step that a dispatch or an acquire has chosen. */
  branch?: string;
}

@ApiModel('NodeStepResult', 'What became of a step that a node has done.')
class NodeStepResultDto extends AnyResultDto {
  /** Of the program. */
  @ApiProperty({ type: 'integer', required: false })
  exit_code?: number;
  /** The outputs that the node said it uploaded. */
  produced?: string[];
}

@ApiModel('AcquireStepResult', 'What became of an attempt to take one more node.')
class AcquireStepResultDto extends AnyResultDto {}

@ApiModel('AskStepResult', 'What became of a question.')
class AskStepResultDto extends AnyResultDto {
  /** Its one output, the answer. */
  produced?: string[];
  /** What was answered. */
  @ApiShape(ANSWER, { required: false })
  answer?: unknown;
  /** Who answered; `default`: nobody in time, so the `default` of the contract was taken. */
  answered_by?: string;
}

class AnyStepDto {
  /** Place in the contract, from 1. */
  @ApiProperty({ type: 'integer', minimum: 1 })
  seq!: number;
  /** As in the contract. */
  id!: string;
  @ApiProperty({ type: 'string' })
  kind!: StepKind;
  /** `PENDING`, `CLAIMED` by its node, `ASKED` of a person; the others are final. */
  @ApiProperty({ enum: STEP_STATES, enumName: 'StepState' })
  state!: StepState;
  /** Ids of the steps that must be DONE or SKIPPED first. */
  needs!: string[];
  /** From 1; a loop that goes round raises it. */
  @ApiProperty({ type: 'integer', minimum: 1 })
  attempt!: number;
  /** True where a branch chose this step. */
  chosen?: boolean;
  @ApiProperty({ type: 'string', format: 'date-time' })
  started_at!: string | null;
  @ApiProperty({ type: 'string', format: 'date-time' })
  ended_at!: string | null;
}

class NodeStepDto extends AnyStepDto {
  /** The role whose first node does it. */
  uses!: string;
  /** The node it is bound to; null while the run waits. */
  node_id!: string | null;
  /** There when the step has ended with one. */
  result?: NodeStepResultDto;
}

@ApiModel('RunStep', 'A step that runs a program on a node.')
export class RunStepDto extends NodeStepDto {
  @ApiConst('run')
  declare kind: 'run';
}

@ApiModel('AgentStep', 'A step that hands a task to an agent on a node.')
export class AgentStepDto extends NodeStepDto {
  @ApiConst('agent')
  declare kind: 'agent';
}

class ServerStepDto extends AnyStepDto {
  /** No role: no node does it. */
  @ApiShape(NOTHING)
  uses!: null;
  @ApiShape(NOTHING)
  node_id!: null;
}

@ApiModel('AcquireStep', 'A step that takes one more node, done by the server itself.')
export class AcquireStepDto extends ServerStepDto {
  @ApiConst('acquire')
  declare kind: 'acquire';
  /** There when the step has ended with one. */
  result?: AcquireStepResultDto;
}

@ApiModel('AskStep', 'A step that asks a person.')
export class AskStepDto extends ServerStepDto {
  @ApiConst('ask')
  declare kind: 'ask';
  /** There when the step has ended with one. */
  result?: AskStepResultDto;
}

@ApiChoice('Step', 'A step of a run; `kind` says which of the four the contract says.', 'kind', {
  run: RunStepDto,
  agent: AgentStepDto,
  acquire: AcquireStepDto,
  ask: AskStepDto,
})
export class StepDto {}

export type ShownStep = RunStepDto | AgentStepDto | AcquireStepDto | AskStepDto;
