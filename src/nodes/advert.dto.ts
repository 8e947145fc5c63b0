import { ApiProperty } from '@nestjs/swagger';
import { IsInt, IsOptional, IsString, Matches, Max, MaxLength, Min, ValidateBy } from 'class-validator';
import { ATTRIBUTE, ATTRIBUTE_VALUE, CAPABILITY } from '../domain/contract/names.js';
import { ATTRIBUTES, MOST_ATTRIBUTES } from '../domain/contract/requirement.js';
import { DRAINS } from '../domain/states.js';
import { ApiModel, ApiShape } from '../platform/http/api-model.decorator.js';
import { ListOf } from '../platform/http/as-dto.js';
import { INSTANCE, INSTANCE_RULE, NODE_ID, NODE_ID_RULE } from '../platform/http/path-parameters.js';
import { HoldDto } from './hold.dto.js';

const MOST_ENTRIES = 64;
const ENTRIES_RULE = {
  says: `must be an array of at most ${MOST_ENTRIES} entries`,
  each: 'must be objects with a capability',
};
const SEQ_RULE = { message: `must be a whole number from 0 to ${Number.MAX_SAFE_INTEGER}` };
const ATTRS_RULE = `must map at most ${MOST_ATTRIBUTES} names to strings, without "node_id", which is implied. ${ATTRIBUTE.says} ${ATTRIBUTE_VALUE.says}`;

function areAttrs(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const attributes = Object.entries(value);
  if (attributes.length > MOST_ATTRIBUTES) return false;
  return attributes.every(
    ([name, text]) =>
      name !== 'node_id' && ATTRIBUTE.accepts(name) && typeof text === 'string' && ATTRIBUTE_VALUE.accepts(text),
  );
}

function holdsNoList(value: unknown): boolean {
  return !Array.isArray(value) || !value.some(Array.isArray);
}

@ApiModel('CapabilityEntry', 'One thing that a node offers.')
export class CapabilityEntryDto {
  /** An open vocabulary: nodes define it by advertising it. */
  @ApiProperty(CAPABILITY.schema)
  @IsString({ message: CAPABILITY.says })
  @ValidateBy(
    { name: 'capability', validator: { validate: (value) => typeof value === 'string' && CAPABILITY.accepts(value) } },
    { message: CAPABILITY.says },
  )
  capability!: string;

  /** At most 32, with exact values; a requirement asks for equality. Without `node_id`, which is implied. */
  @ApiShape(ATTRIBUTES, { required: false })
  @IsOptional()
  @ValidateBy({ name: 'attrs', validator: { validate: areAttrs } }, { message: ATTRS_RULE })
  attrs?: Record<string, string>;
}

@ApiModel('Advert', 'What a node offers from now on: it replaces the whole advert before. Unknown keys are ignored.')
export class AdvertDto {
  @ApiProperty({ pattern: NODE_ID.source })
  @Matches(NODE_ID, { message: NODE_ID_RULE })
  node_id!: string;

  /** For people; the node_id where absent. */
  @ApiProperty({ maxLength: 200, required: false })
  @IsOptional()
  @IsString({ message: 'must be a string' })
  @MaxLength(200, { message: 'must be at most 200 characters' })
  label?: string;

  /** New at every start of the node's process. Without it there is neither redelivery nor restart detection. */
  @ApiProperty({ required: false, maxLength: 200, pattern: INSTANCE.source })
  @IsOptional()
  @Matches(INSTANCE, { message: INSTANCE_RULE })
  instance?: string;

  /**
   * A number that the process raises with each advert, so that one which arrives late changes nothing: an advert whose
   * `seq` is not above that of the last one, of the same instance and still alive, is late.
   */
  @ApiProperty({ type: 'integer', required: false, minimum: 0, maximum: Number.MAX_SAFE_INTEGER })
  @IsOptional()
  @IsInt(SEQ_RULE)
  @Min(0, SEQ_RULE)
  @Max(Number.MAX_SAFE_INTEGER, SEQ_RULE)
  seq?: number;

  /**
   * Empty: it takes runs. `graceful`: running runs go on, nothing new comes. `at-boundary`: the step in progress ends, then
   * its run is cancelled; a run of which nothing has begun waits again. An unknown word counts as empty, with a warning.
   */
  @ApiProperty({ required: false, enum: DRAINS, enumName: 'Drain' })
  @IsOptional()
  drain?: unknown;

  /** All of it: what is left out is no longer offered. */
  @ApiProperty({ type: [CapabilityEntryDto], maxItems: MOST_ENTRIES })
  @ListOf(CapabilityEntryDto, MOST_ENTRIES, ENTRIES_RULE)
  // A list inside the list would be judged by what it holds, and an empty one holds nothing that is wrong.
  @ValidateBy({ name: 'entries', validator: { validate: holdsNoList } }, { message: ENTRIES_RULE.each })
  capabilities!: CapabilityEntryDto[];
}

@ApiModel('Lease', 'A node that a run holds.')
export class LeaseDto {
  /** The run that holds it. */
  run_id!: string;
  node_id!: string;
  /** Fences uploads and results: sent as `Mediator-Lease`. */
  nonce!: string;
  /** The lease ends then unless the node speaks again. */
  @ApiProperty({ format: 'date-time' })
  not_after!: string;
}

@ApiModel('AdvertAnswer', 'What became of an advert, and what the node holds now.')
export class AdvertAnswerDto {
  node_id!: string;
  /** After how many seconds the node is to speak again. */
  @ApiProperty({ type: 'number', minimum: 0 })
  renew_seconds!: number;
  /** The node is live until then. */
  @ApiProperty({ format: 'date-time' })
  expires_at!: string;
  /** As it was understood. */
  @ApiProperty({ enum: DRAINS, enumName: 'Drain' })
  drain!: string;
  /** Who has taken the node out of service, and why; null: nobody. */
  held!: HoldDto | null;
  /** What of the advert was not understood, or not heeded. */
  warnings?: string[];
  /** The whole list: a lease that is missing is over, and its work is to stop. */
  leases!: LeaseDto[];
}
