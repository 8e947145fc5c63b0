import { ApiProperty } from '@nestjs/swagger';
import { ArrayMaxSize, IsArray, IsInt, IsOptional, IsString, Matches, Max, MaxLength, Min } from 'class-validator';
import { RUN_STATES, STEP_STATES } from '../domain/states.js';
import type { RunState, StepState } from '../domain/states.js';
import { NODE_ID, NODE_ID_RULE } from '../platform/http/node-id.js';

const ATTEMPT_RULE = { message: 'must be the attempt of the claim, a whole number from 1' };
const EXIT_RULE = { message: 'must be a whole number that fits 32 bits' };
const PRODUCED_RULE = { message: 'must be at most 1000 names of outputs' };

/** What became of a claimed step. */
export class ReportDto {
  @ApiProperty({ example: 'rpi-7' })
  @Matches(NODE_ID, { message: NODE_ID_RULE })
  node_id!: string;

  @ApiProperty({ type: 'integer', minimum: 1 })
  @IsInt(ATTEMPT_RULE)
  @Min(1, ATTEMPT_RULE)
  attempt!: number;

  /** Of the program. Needed for a run step that reports no error. */
  @ApiProperty({ type: 'integer', required: false })
  @IsOptional()
  @IsInt(EXIT_RULE)
  @Min(-(2 ** 31), EXIT_RULE)
  @Max(2 ** 31 - 1, EXIT_RULE)
  exit_code?: number;

  /** The outputs that were uploaded in this attempt. */
  @IsOptional()
  @IsArray(PRODUCED_RULE)
  @ArrayMaxSize(1000, PRODUCED_RULE)
  @IsString({ each: true, ...PRODUCED_RULE })
  produced?: string[];

  /** The step could not be done: it ends FAILED, whatever the exit code. */
  @IsOptional()
  @IsString({ message: 'must be a string' })
  @MaxLength(10_000, { message: 'must be at most 10000 characters' })
  error?: string;
}

export class ReportAnswerDto {
  run_id!: string;
  @ApiProperty({ type: 'integer' })
  seq!: number;
  @ApiProperty({ enum: STEP_STATES, enumName: 'StepState' })
  step_state!: StepState;
  /** The step goes round its loop once more. */
  rolled_back!: boolean;
  @ApiProperty({ enum: RUN_STATES, enumName: 'RunState' })
  run_state!: RunState;
}
