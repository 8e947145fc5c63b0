import { ApiProperty } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { IsBoolean, IsOptional } from 'class-validator';
import { CapabilityEntryDto } from './advert.dto.js';

export class NodesQueryDto {
  /** Also nodes whose advert has expired, with `live: false`. */
  @ApiProperty({ required: false, type: 'boolean', default: false })
  @IsOptional()
  @Transform(({ value }: { value: unknown }) => (value === 'true' ? true : value === 'false' ? false : value))
  @IsBoolean({ message: 'must be true or false' })
  all: boolean = false;
}

export class NodeLeaseDto {
  run_id!: string;
  @ApiProperty({ format: 'date-time' })
  since!: string;
  @ApiProperty({ format: 'date-time' })
  not_after!: string;
}

export class NodeDto {
  node_id!: string;
  label!: string;
  capabilities!: CapabilityEntryDto[];
  @ApiProperty({ enum: ['', 'graceful', 'at-boundary'] })
  drain!: string;
  @ApiProperty({ format: 'date-time' })
  seen_at!: string;
  @ApiProperty({ format: 'date-time' })
  expires_at!: string;
  /** False: its advert has expired. */
  live!: boolean;
  /** The run that holds it; null: none does. */
  lease!: NodeLeaseDto | null;
}

export class NodesDto {
  @ApiProperty({ format: 'date-time' })
  observed_at!: string;
  /** By node_id. */
  items!: NodeDto[];
}

export class CapabilityDto {
  capability!: string;
  /** How many live nodes offer it. */
  @ApiProperty({ type: 'integer' })
  nodes!: number;
  @ApiProperty({
    type: 'object',
    additionalProperties: { type: 'array', items: { type: 'string' } },
    description: 'Every attribute with the values that are offered.',
    example: { soc: ['bcm2711', 'bcm2712'] },
  })
  attrs!: Record<string, string[]>;
}

export class CapabilitiesDto {
  /** What exists, not what is free. */
  items!: CapabilityDto[];
}
