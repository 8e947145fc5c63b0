import { ApiProperty } from '@nestjs/swagger';
import { IsOptional, IsString } from 'class-validator';
import { ApiModel } from '../platform/http/api-model.decorator.js';
import { PageQueryDto } from '../platform/http/page.dto.js';
import { NotBefore, Time } from '../platform/http/time.decorator.js';

export class GrantsQueryDto extends PageQueryDto {
  /** Only grants of this node. */
  @ApiProperty({ type: 'string', required: false })
  @IsOptional()
  @IsString({ message: 'must be given once' })
  node_id?: string;

  /** Only grants to this run. */
  @ApiProperty({ type: 'string', required: false })
  @IsOptional()
  @IsString({ message: 'must be given once' })
  run_id?: string;

  /** Only grants that had not ended by then. RFC 3339. */
  @Time()
  from?: string;

  /** Only grants that had begun by then, not before `from`. RFC 3339. */
  @Time()
  @NotBefore('from')
  to?: string;
}

@ApiModel('Grant', 'That a run held a node, or holds it.')
export class GrantDto {
  node_id!: string;
  /** As the node advertises itself now. */
  label!: string;
  run_id!: string;
  /** Who submitted the run. */
  principal!: string;
  /** The roles of the run that the node served. */
  roles!: string[];
  @ApiProperty({ format: 'date-time' })
  granted_at!: string;
  /** Null: the run holds it. */
  @ApiProperty({ type: 'string', format: 'date-time' })
  released_at!: string | null;
  /** Why it was given back: the reason of the run's verdict, or `released` by a step; null: it was not. */
  why!: string | null;
}

@ApiModel('GrantList', 'A page of grants.')
export class GrantListDto {
  /** The newest first. */
  items!: GrantDto[];
  /** Cursor of the next page; null at the end. */
  next!: string | null;
}
