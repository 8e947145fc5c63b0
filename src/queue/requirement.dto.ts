import { ApiProperty } from '@nestjs/swagger';
import { ApiModel } from '../platform/http/api-model.decorator.js';

@ApiModel(
  'Attributes',
  'Attributes with their exact values. Names are 1 to 63 of a-z, 0-9, ".", "_" and "-", beginning with a letter or digit.',
  {
    maxProperties: 32,
    propertyNames: { pattern: '^[a-z0-9][a-z0-9._-]{0,62}$' },
    additionalProperties: { type: 'string', maxLength: 200 },
  },
)
export class AttributesDto {}

@ApiModel(
  'Requirement',
  'What a role of the run needs. A node satisfies it when one of its advertised entries has the same capability and ' +
    'every requested attribute with an equal value; what the entry has besides does not matter.',
  { additionalProperties: false },
)
export class RequirementDto {
  /** The name of the role, unique in the contract, acquired roles included. */
  @ApiProperty({ pattern: '^[A-Za-z0-9_-]{1,64}$' })
  as!: string;
  /** An open vocabulary: nodes define it by advertising it. */
  @ApiProperty({ pattern: '^[a-z0-9][a-z0-9._-]{0,99}$' })
  capability!: string;
  /** How many distinct nodes. */
  @ApiProperty({ type: 'integer', minimum: 1, maximum: 64, default: 1, required: false })
  count?: number;
  /** At most 32. The reserved attribute `node_id` asks for one node by name. */
  @ApiProperty({ type: AttributesDto, required: false })
  attrs?: Record<string, string>;
}
