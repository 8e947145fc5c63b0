import { ApiExtraModels, ApiProperty } from '@nestjs/swagger';
import { ApiModel, schemaRef } from '../platform/http/api-model.decorator.js';
import { RequirementDto } from '../queue/requirement.dto.js';
import { WorkDto } from '../runs/run.dto.js';
import { AcquireStepDto, AgentStepDto, AskStepDto, ContractStepDto, RunStepDto } from './contract-step.dto.js';

/** How a contract is described to those who write one. Nothing is validated by these classes: the domain's parser does. */
@ApiModel(
  'Condition',
  'One thing that must hold when the last step has ended: `exit_code`, `produced` or both. On a step that was skipped it ' +
    'holds, unless a branch had chosen that step.',
  { additionalProperties: false, minProperties: 2 },
)
export class ConditionDto {
  /** The id of the step that is judged. */
  step!: string;
  /** Of a run step. Another than 0 needs `allow_failure` on the step. */
  @ApiProperty({ type: 'integer', required: false })
  exit_code?: number;
  /** Outputs that must have been uploaded in the last attempt. */
  produced?: string[];
}

@ApiModel(
  'Contract',
  'Which nodes a run needs, what is done on them, and when that counts as a success. At most 256 KiB. Unknown keys are ' +
    'refused, except inside `agent`, `work`, `attrs` and `schema`. It is stored as submitted and never rewritten.',
  { additionalProperties: false },
)
@ApiExtraModels(RunStepDto, AgentStepDto, AcquireStepDto, AskStepDto, ContractStepDto)
export class ContractDto {
  /** Of the format. */
  @ApiProperty({ type: 'integer', minimum: 1, maximum: 1, default: 1, required: false })
  version?: number;
  /** What makes a submission safe to repeat. Made by the server where it is absent and there is no Idempotency-Key. */
  @ApiProperty({ pattern: '^(?!\\.{1,2}$)[A-Za-z0-9._:@+-]{1,200}$', required: false })
  run_id?: string;
  /** What the run is about. */
  @ApiProperty({ type: WorkDto, required: false })
  work?: Record<string, unknown>;
  /** The roles of the run. All their nodes are leased at once, or none. */
  @ApiProperty({ type: [RequirementDto], minItems: 1, maxItems: 64 })
  requires!: RequirementDto[];
  /** True: no node serves two roles of this run. */
  @ApiProperty({ type: Boolean, default: false, required: false })
  spread?: boolean;
  /** In the order in which they are done, unless `needs` says otherwise. */
  @ApiProperty({ type: 'array', items: schemaRef('ContractStep'), minItems: 1, maxItems: 500 })
  steps!: object[];
  /** All must hold. Absent or empty: every step that was not skipped is DONE. */
  success_when?: ConditionDto[];
}
