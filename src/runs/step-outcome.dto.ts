import { ApiProperty } from '@nestjs/swagger';
import { RUN_STATES, type RunState, STEP_STATES, type StepState } from '../domain/states.js';
import { ApiModel } from '../platform/http/api-model.decorator.js';

@ApiModel('StepOutcome', 'What a report or an answer has led to.')
export class StepOutcomeDto {
  run_id!: string;
  @ApiProperty({ type: 'integer', minimum: 1 })
  seq!: number;
  /** What the step is now. */
  @ApiProperty({ enum: STEP_STATES, enumName: 'StepState' })
  step_state!: StepState;
  /** True: the step goes round its loop once more. */
  rolled_back!: boolean;
  /** What the run is now. */
  @ApiProperty({ enum: RUN_STATES, enumName: 'RunState' })
  run_state!: RunState;
}
