import { ApiProperty } from '@nestjs/swagger';
import { Transform, Type } from 'class-transformer';
import {
  ArrayMaxSize,
  IsArray,
  IsOptional,
  IsString,
  Matches,
  MaxLength,
  ValidateBy,
  ValidateNested,
} from 'class-validator';
import { ATTRIBUTE, ATTRIBUTE_VALUE, CAPABILITY } from '../domain/contract/names.js';
import { INSTANCE, INSTANCE_RULE, NODE_ID, NODE_ID_RULE } from '../platform/http/node-id.js';

const ATTRS_RULE = `must map names to strings, without "node_id", which is implied. ${ATTRIBUTE.says} ${ATTRIBUTE_VALUE.says}`;

function areAttrs(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  return Object.entries(value).every(
    ([name, text]) =>
      name !== 'node_id' && ATTRIBUTE.accepts(name) && typeof text === 'string' && ATTRIBUTE_VALUE.accepts(text),
  );
}

export class CapabilityEntryDto {
  /** An open vocabulary: nodes define it by advertising it. */
  @ApiProperty({ example: 'board' })
  @IsString({ message: CAPABILITY.says })
  @ValidateBy(
    { name: 'capability', validator: { validate: (value) => typeof value === 'string' && CAPABILITY.accepts(value) } },
    { message: CAPABILITY.says },
  )
  capability!: string;

  @ApiProperty({
    selfRequired: false,
    type: 'object',
    additionalProperties: { type: 'string' },
    example: { soc: 'bcm2712' },
    description: 'Exact values; a requirement asks for equality. Without `node_id`, which is implied.',
  })
  @IsOptional()
  // class-transformer would drop a key named `constructor`.
  @Transform(({ obj }: { obj: { attrs?: unknown } }) => obj.attrs)
  @ValidateBy({ name: 'attrs', validator: { validate: areAttrs } }, { message: ATTRS_RULE })
  attrs?: Record<string, string>;
}

/** What a node offers from now on: it replaces the whole advert before. */
export class AdvertDto {
  @ApiProperty({ example: 'rpi-7', pattern: NODE_ID.source })
  @Matches(NODE_ID, { message: NODE_ID_RULE })
  node_id!: string;

  /** For people; the node_id where absent. */
  @IsOptional()
  @IsString({ message: 'must be a string' })
  @MaxLength(200, { message: 'must be at most 200 characters' })
  label?: string;

  /** New at every start of the node's process. Without it there is neither redelivery nor restart detection. */
  @ApiProperty({ required: false, example: 'boot-1', pattern: INSTANCE.source })
  @IsOptional()
  @Matches(INSTANCE, { message: INSTANCE_RULE })
  instance?: string;

  /** `graceful`: running runs go on, nothing new comes. `at-boundary`: the step in progress ends, then its run is cancelled. */
  @ApiProperty({ required: false, type: 'string', enum: ['', 'graceful', 'at-boundary'] })
  @IsOptional()
  drain?: unknown;

  @IsArray({ message: 'must be an array of at most 64 entries' })
  @ArrayMaxSize(64, { message: 'must be an array of at most 64 entries' })
  @ValidateNested({ each: true, message: 'must be objects with a capability' })
  @Type(() => CapabilityEntryDto)
  capabilities!: CapabilityEntryDto[];
}

export class LeaseDto {
  run_id!: string;
  node_id!: string;
  /** Fences uploads and results: sent as `Mediator-Lease`. */
  nonce!: string;
  /** The lease ends then unless the node speaks again. */
  @ApiProperty({ format: 'date-time' })
  not_after!: string;
}

export class AdvertAnswerDto {
  node_id!: string;
  /** When the node is to speak again, in seconds. */
  renew_seconds!: number;
  @ApiProperty({ format: 'date-time' })
  expires_at!: string;
  @ApiProperty({ enum: ['', 'graceful', 'at-boundary'] })
  drain!: string;
  warnings?: string[];
  /** The whole list: a lease that is missing is over. */
  leases!: LeaseDto[];
}
