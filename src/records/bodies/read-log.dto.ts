import { ApiProperty } from '@nestjs/swagger';
import { IsInt, IsOptional, IsString, Max, Min } from 'class-validator';
import { WholeNumber } from '../../platform/http/whole-number.decorator.js';

const ATTEMPT_RULE = { message: 'must be a whole number from 1' };

export class ReadLogQueryDto {
  /** Which log of the step. */
  @ApiProperty({ type: 'string', default: 'step', required: false })
  @IsOptional()
  @IsString({ message: 'must be given once' })
  name: string = 'step';

  /** Of which attempt; of the current one if absent. */
  @ApiProperty({ type: 'integer', minimum: 1, required: false })
  @IsOptional()
  @WholeNumber()
  @IsInt(ATTEMPT_RULE)
  @Min(1, ATTEMPT_RULE)
  @Max(2 ** 31 - 1, ATTEMPT_RULE)
  attempt?: number;
}
