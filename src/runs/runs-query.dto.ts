import { ApiProperty } from '@nestjs/swagger';
import { IsIn, IsOptional, IsString, MaxLength } from 'class-validator';
import { RUN_STATES, type RunState } from '../domain/states.js';
import { ApiModel } from '../platform/http/api-model.decorator.js';
import { PageQueryDto } from '../platform/http/page.dto.js';
import { NotBefore, Time } from '../platform/http/time.decorator.js';

export class RunsQueryDto extends PageQueryDto {
  /** Only runs in this state. */
  @ApiProperty({ enum: RUN_STATES, enumName: 'RunState', required: false })
  @IsOptional()
  @IsIn(RUN_STATES, { message: `must be one of ${RUN_STATES.join(', ')}` })
  state?: RunState;

  /** Only runs of this work, `<system>:<change_id>`. */
  @ApiProperty({ type: 'string', required: false })
  @IsOptional()
  @IsString({ message: 'must be given once' })
  work_id?: string;

  /** Only runs that this principal submitted. */
  @ApiProperty({ type: 'string', required: false })
  @IsOptional()
  @IsString({ message: 'must be given once' })
  principal?: string;

  /** Only runs that hold or held this node; with `from` or `to`: that held it in that time. */
  @ApiProperty({ type: 'string', required: false })
  @IsOptional()
  @IsString({ message: 'must be given once' })
  node_id?: string;

  /** Only runs that had not ended by then; with `node_id`: that had not given it back by then. RFC 3339. */
  @Time()
  from?: string;

  /** Only runs that were there by then, not before `from`; with `node_id`: that had been granted it by then. RFC 3339. */
  @Time()
  @NotBefore('from')
  to?: string;
}

@ApiModel('Cancellation', 'Why a run is cancelled.')
export class CancelDto {
  /** A sentence for the record. */
  @ApiProperty({ type: 'string', maxLength: 2000, required: false })
  @IsOptional()
  @IsString({ message: 'must be a string' })
  @MaxLength(2000, { message: 'must be at most 2000 characters' })
  reason?: string;
}
