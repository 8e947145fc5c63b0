import { ApiProperty } from '@nestjs/swagger';
import { IsInt, IsOptional, Matches, Max, Min, IsString } from 'class-validator';
import { WholeNumber } from '../platform/http/validation.js';

const ATTEMPT_RULE = { message: 'must be the attempt of the claim, a whole number from 1' };
const OFFSET_RULE = { message: 'must be a number of bytes, a whole number from 0' };
const MOST = { attempt: 2_147_483_647, offset: Number.MAX_SAFE_INTEGER };
/** As an output of a contract is named. */
const NAME = /^(?![_.])[A-Za-z0-9._-]{1,100}$/;
const NAME_RULE = {
  message: 'must be 1 to 100 characters from A-Z, a-z, 0-9, ".", "_" and "-", and not begin with "_" or "."',
};

export class UploadQueryDto {
  /** That of the claim; the current one where it is absent. */
  @ApiProperty({ type: 'integer', minimum: 1, required: false })
  @IsOptional()
  @WholeNumber()
  @IsInt(ATTEMPT_RULE)
  @Min(1, ATTEMPT_RULE)
  @Max(MOST.attempt, ATTEMPT_RULE)
  attempt?: number;
}

export class LogQueryDto extends UploadQueryDto {
  /** Which log of the step: a step may write several. */
  @ApiProperty({ pattern: NAME.source, required: false })
  @IsOptional()
  @Matches(NAME, NAME_RULE)
  name: string = 'step';

  /** Where the first byte of the body belongs; at the end where it is absent. */
  @ApiProperty({ type: 'integer', minimum: 0, required: false })
  @IsOptional()
  @WholeNumber()
  @IsInt(OFFSET_RULE)
  @Min(0, OFFSET_RULE)
  @Max(MOST.offset, OFFSET_RULE)
  offset?: number;
}

const LOG_ATTEMPT_RULE = { message: 'must be a whole number from 1' };

export class ReadLogQueryDto {
  /** Which log of the step. */
  @ApiProperty({ type: 'string', required: false })
  @IsOptional()
  @IsString({ message: 'must be given once' })
  name: string = 'step';

  /** Of which attempt; of the current one if absent. */
  @ApiProperty({ type: 'integer', minimum: 1, required: false })
  @IsOptional()
  @WholeNumber()
  @IsInt(LOG_ATTEMPT_RULE)
  @Min(1, LOG_ATTEMPT_RULE)
  @Max(2 ** 31 - 1, LOG_ATTEMPT_RULE)
  attempt?: number;
}
