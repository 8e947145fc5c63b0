import { ApiProperty } from '@nestjs/swagger';
import { ApiModel } from '../platform/http/api-model.decorator.js';
import { RequirementDto } from '../queue/requirement.dto.js';
import { AnswerDto } from '../runs/contract-maps.dto.js';

const CLOSED = { additionalProperties: false };

@ApiModel(
  'Dispatch',
  "Chooses what comes next by the step's output: the targets that are not chosen are skipped.",
  CLOSED,
)
export class DispatchDto {
  @ApiProperty({
    description: '`<out>[.<field>…]`: an output of this step (JSON) and the fields that lead to the choice.',
  })
  from!: string;
  /** Ids of later steps, one of which is chosen. */
  @ApiProperty({ type: [String], minItems: 2, uniqueItems: true })
  to!: string[];
}

@ApiModel('LoopEnd', 'What ends a loop: `exit_code`, `produced` or both.', { ...CLOSED, minProperties: 1 })
export class UntilDto {
  /** Another than 0 needs `allow_failure` on the step. */
  @ApiProperty({ type: 'integer', required: false })
  exit_code?: number;
  /** Outputs that were uploaded in this attempt. */
  produced?: string[];
}

@ApiModel(
  'Loop',
  'Goes back and does the steps from there on again, until it is met or the attempts are used up.',
  CLOSED,
)
export class LoopDto {
  /** This step or an earlier one. */
  back_to!: string;
  /** How many attempts at most. */
  @ApiProperty({ type: 'integer', minimum: 2, maximum: 100 })
  max!: number;
  until!: UntilDto;
}

@ApiModel('Acquire', 'One more node for a role. Its result never fails the run, it chooses a branch.', CLOSED)
export class AcquireDto {
  /** What is needed; `count` is 1. */
  want!: RequirementDto;
  /** The later step that is chosen when a node was taken. */
  acquired!: string;
  /** The later step that is chosen when there was none, or the run holds as many as it may. */
  unavailable!: string;
}

@ApiModel('Ask', 'A question to a person.', CLOSED)
export class AskDto {
  @ApiProperty({ maxLength: 4000 })
  prompt!: string;
  /** Only these may answer. Absent: whoever may submit. */
  @ApiProperty({
    type: 'array',
    items: { type: 'string', minLength: 1, pattern: '^(?!default$)' },
    minItems: 1,
    required: false,
  })
  answerers?: string[];
  /** Open for longer, the question is answered by its `default`; without one the step fails with `ask_expired`. Absent: it waits for ever. */
  @ApiProperty({ type: 'integer', minimum: 1, maximum: 31_536_000, required: false })
  timeout_seconds?: number;
  /**
   * Taken as the answer when `timeout_seconds`, which it needs, are over: it satisfies the schema, and where the step has a `dispatch`
   * it names one of `to`. `answered_by` is then `default`.
   */
  @ApiProperty({ type: AnswerDto, required: false })
  default?: Record<string, unknown>;
  /** Outputs of steps before it that are shown with the question. */
  show?: string[];
}
