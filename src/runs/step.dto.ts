import { ApiProperty } from '@nestjs/swagger';
import type { StepKind } from '../domain/contract/contract.js';
import { ANSWER } from '../domain/contract/step-parts.js';
import { STEP_KINDS } from '../domain/contract/step-kinds.js';
import { STEP_STATES, type StepState } from '../domain/states.js';
import { ApiModel, ApiShape } from '../platform/http/api-model.decorator.js';

@ApiModel('StepResult', 'What became of a step.')
export class StepResultDto {
  /** Of the program. */
  @ApiProperty({ type: 'integer', required: false })
  exit_code?: number;
  /** The outputs that the node said it uploaded; of a question, its answer. */
  produced?: string[];
  /** Why the step failed. */
  error?: string;
  /** What was answered. */
  @ApiShape(ANSWER, { required: false })
  answer?: unknown;
  /** Who answered; `default`: nobody in time, so the `default` of the contract was taken. */
  answered_by?: string;
  /** The step that a dispatch or an acquire has chosen. */
  branch?: string;
}

@ApiModel('Step', 'A step of a run.')
export class StepDto {
  /** Place in the contract, from 1. */
  @ApiProperty({ type: 'integer', minimum: 1 })
  seq!: number;
  /** As in the contract. */
  id!: string;
  /** Which of the four the contract says. */
  @ApiProperty({ enum: STEP_KINDS, enumName: 'StepKind' })
  kind!: StepKind;
  /** The role; null for steps without a node. */
  uses!: string | null;
  /** `PENDING`, `CLAIMED` by its node, `ASKED` of a person; the others are final. */
  @ApiProperty({ enum: STEP_STATES, enumName: 'StepState' })
  state!: StepState;
  /** The node it is bound to; null while the run waits. */
  node_id!: string | null;
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
  /** There when the step has ended with one. */
  result?: StepResultDto;
}
