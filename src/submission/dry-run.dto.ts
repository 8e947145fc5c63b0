import { ApiProperty } from '@nestjs/swagger';
import { AssignedRoleDto } from '../runs/run.dto.js';

export class DryRunDto {
  /** The contract's, or one that a submission could have got; nothing is reserved. */
  run_id!: string;
  @ApiProperty({ enum: ['DRY_RUN'] })
  state!: 'DRY_RUN';
  /** What a submission would get if every node were free. */
  assigned!: AssignedRoleDto[];
}
