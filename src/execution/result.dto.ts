import { ApiProperty } from '@nestjs/swagger';
import { ArrayMaxSize, IsArray, IsInt, IsOptional, IsString, Matches, Max, MaxLength, Min } from 'class-validator';
import { ApiModel } from '../platform/http/api-model.decorator.js';
import { NODE_ID, NODE_ID_RULE } from '../platform/http/path-parameters.js';

const ATTEMPT_RULE = { message: 'must be the attempt of the claim, a whole number from 1' };
const EXIT_RULE = { message: 'must be a whole number that fits 32 bits' };
/** Named, since the compiler plugin leaves out a property whose decorator calculates. */
const INT32 = { least: -(2 ** 31), most: 2 ** 31 - 1 };
const PRODUCED_RULE = { message: 'must be at most 1000 names of outputs' };

@ApiModel('ReportedResult', 'What became of a claimed step. Unknown keys are ignored.')
export class ResultDto {
  /** Who did it. */
  @ApiProperty({ pattern: NODE_ID.source })
  @Matches(NODE_ID, { message: NODE_ID_RULE })
  node_id!: string;

  /** That of the claim. */
  @ApiProperty({ type: 'integer', minimum: 1 })
  @IsInt(ATTEMPT_RULE)
  @Min(1, ATTEMPT_RULE)
  attempt!: number;

  /** Of the program. Needed for a run step that reports no error. */
  @ApiProperty({ type: 'integer', minimum: INT32.least, maximum: INT32.most, required: false })
  @IsOptional()
  @IsInt(EXIT_RULE)
  @Min(INT32.least, EXIT_RULE)
  @Max(INT32.most, EXIT_RULE)
  exit_code?: number;

  /** The outputs that were uploaded in this attempt. */
  @ApiProperty({ type: [String], maxItems: 1000, required: false })
  @IsOptional()
  @IsArray(PRODUCED_RULE)
  @ArrayMaxSize(1000, PRODUCED_RULE)
  @IsString({ each: true, ...PRODUCED_RULE })
  produced?: string[];

  /** The step could not be done: it ends FAILED, whatever the exit code. */
  @ApiProperty({ type: 'string', maxLength: 10_000, required: false })
  @IsOptional()
  @IsString({ message: 'must be a string' })
  @MaxLength(10_000, { message: 'must be at most 10000 characters' })
  error?: string;
}
