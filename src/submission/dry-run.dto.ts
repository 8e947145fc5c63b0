import { ApiProperty } from '@nestjs/swagger';
import { ApiModel } from '../platform/http/api-model.decorator.js';
import { AssignedRoleDto } from '../runs/run.dto.js';

@ApiModel('DryRun', 'What a submission would be given if every live node were free.')
export class DryRunDto {
  /** The contract's, or one that a submission could have got; nothing is reserved. */
  run_id!: string;
  @ApiProperty({ enum: ['DRY_RUN'], enumName: 'DryRunState' })
  state!: 'DRY_RUN';
  /** What a submission would get if every node were free. */
  assigned!: AssignedRoleDto[];
}
