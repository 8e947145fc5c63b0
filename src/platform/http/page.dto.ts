import { ApiProperty } from '@nestjs/swagger';
import { IsInt, IsOptional, IsString, Max, Min } from 'class-validator';
import { WholeNumber } from './validation.js';

/** Which page of a list. */
export class PageQueryDto {
  /** How many items at most, from 1 to 200. A page of large items ends sooner, at about 1 MiB, and has at least one. */
  @ApiProperty({ type: 'integer', minimum: 1, maximum: 200, required: false })
  @IsOptional()
  @WholeNumber()
  @IsInt({ message: 'must be a whole number from 1 to 200' })
  @Min(1, { message: 'must be a whole number from 1 to 200' })
  @Max(200, { message: 'must be a whole number from 1 to 200' })
  limit: number = 50;

  /** The `next` of the page before; without it the list begins at its beginning. It stays right while rows come and go. */
  @ApiProperty({ type: 'string', required: false })
  @IsOptional()
  @IsString({ message: 'must be given once' })
  cursor?: string;
}
