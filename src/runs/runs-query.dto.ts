import { ApiProperty } from '@nestjs/swagger';
import { IsIn, IsOptional, IsString, MaxLength } from 'class-validator';
import { RUN_STATES } from '../domain/states.js';
import type { RunState } from '../domain/states.js';
import { PageQueryDto } from '../platform/http/page.dto.js';

export class RunsQueryDto extends PageQueryDto {
  /** Only runs in this state. */
  @ApiProperty({ enum: RUN_STATES, enumName: 'RunState', required: false })
  @IsOptional()
  @IsIn(RUN_STATES, { message: `must be one of ${RUN_STATES.join(', ')}` })
  state?: RunState;

  /** Only runs of this work, `<system>:<change_id>`. */
  @IsOptional()
  @IsString({ message: 'must be given once' })
  work_id?: string;

  /** Only runs that this principal submitted. */
  @IsOptional()
  @IsString({ message: 'must be given once' })
  principal?: string;
}

export class CancelDto {
  /** A sentence for the record. */
  @IsOptional()
  @IsString({ message: 'must be a string' })
  @MaxLength(2000, { message: 'must be at most 2000 characters' })
  reason?: string;
}
