import { ApiProperty } from '@nestjs/swagger';
import { ApiModel, schemaRef } from '../platform/http/api-model.decorator.js';
import { AgentTaskDto, OutputSchemasDto } from '../runs/contract-maps.dto.js';
import { AcquireDto, AskDto, DispatchDto, LoopDto } from './contract-branching.dto.js';

const CLOSED = { additionalProperties: false };
const OUTPUT_NAMES = { type: 'array', items: { type: 'string', pattern: '^(?![_.])[A-Za-z0-9._-]{1,100}$' } } as const;

/** What every step has. */
@ApiModel('AnyStep', 'What every step has.')
class AnyStepDto {
  /** Unique in the contract. */
  @ApiProperty({ pattern: '^[A-Za-z0-9_-]{1,64}$' })
  id!: string;
  /**
   * Ids of earlier steps that must have ended before. `[]` waits for nothing. Absent: the step that names this one as a
   * branch, else the step before it.
   */
  @ApiProperty({ type: [String], uniqueItems: true, required: false })
  needs?: string[];
}

/** What every step has that can produce outputs. */
@ApiModel('ProducingStep', 'What every step has that can produce outputs.')
class ProducingStepDto extends AnyStepDto {
  /** Roles that are given back when this step is done. Every other step that uses such a role must come before. */
  release?: string[];
  dispatch?: DispatchDto;
}

/** What every step has that is done on a node. */
@ApiModel('NodeStep', 'What every step has that is done on a node.')
class NodeStepDto extends ProducingStepDto {
  /** The role whose first node does it. */
  uses!: string;
  /** Outputs of steps before it, to be downloaded first. */
  in?: string[];
  /** Outputs it promises. One that is not uploaded fails the step. */
  @ApiProperty({ ...OUTPUT_NAMES, required: false })
  out?: string[];
  /** What the outputs must satisfy: an upload that does not is refused. */
  @ApiProperty({ type: OutputSchemasDto, required: false })
  schema?: Record<string, unknown>;
  /** Names, never values, of environment variables that the node passes through. */
  @ApiProperty({ type: 'array', items: { type: 'string', pattern: '^[^=]+$' }, required: false })
  env?: string[];
  /** Claimed for longer, the step fails with `step_timeout`. */
  @ApiProperty({ type: 'integer', minimum: 1, maximum: 604_800, required: false })
  timeout_seconds?: number;
  loop?: LoopDto;
}

@ApiModel('RunStep', 'Runs a program on a node.', CLOSED)
export class RunStepDto extends NodeStepDto {
  /** The argument vector; no shell reads it. */
  @ApiProperty({ type: [String], minItems: 1 })
  run!: string[];
  /** True: the step is done whatever its exit code, and only `success_when` judges it. */
  @ApiProperty({ type: Boolean, default: false, required: false })
  allow_failure?: boolean;
}

@ApiModel('AgentStep', 'Hands a task to an agent on a node.', CLOSED)
export class AgentStepDto extends NodeStepDto {
  @ApiProperty({ type: AgentTaskDto })
  agent!: Record<string, unknown>;
}

@ApiModel('AcquireStep', 'Takes one more node while the run is going, done by the server itself.', CLOSED)
export class AcquireStepDto extends AnyStepDto {
  acquire!: AcquireDto;
}

@ApiModel('AskStep', 'Asks a person. The answer is its output.', CLOSED)
export class AskStepDto extends ProducingStepDto {
  ask!: AskDto;
  /** What the answer must satisfy, for its one output: an object at the top level, so that a form can be drawn from it. */
  @ApiProperty({ type: OutputSchemasDto, required: true })
  schema!: Record<string, unknown>;
  /** The one output that the answer becomes. */
  @ApiProperty({ ...OUTPUT_NAMES, minItems: 1, maxItems: 1 })
  out!: string[];
}

@ApiModel(
  'ContractStep',
  'One step of a contract: exactly one of `run`, `agent`, `acquire` and `ask` says what it does.',
  {
    type: undefined,
    oneOf: ['RunStep', 'AgentStep', 'AcquireStep', 'AskStep'].map(schemaRef),
  },
)
export class ContractStepDto {}
