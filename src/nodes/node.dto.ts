import { ApiProperty } from '@nestjs/swagger';
import { DRAINS } from '../domain/states.js';
import { ApiModel } from '../platform/http/api-model.decorator.js';
import { CapabilityEntryDto } from './advert.dto.js';
import { HoldDto } from './hold.dto.js';

@ApiModel('NodeLease', 'Who holds a node.')
export class NodeLeaseDto {
  run_id!: string;
  /** Who submitted that run. */
  principal!: string;
  @ApiProperty({ format: 'date-time' })
  since!: string;
  /** When it ends if nobody renews it; each heartbeat of the node does. */
  @ApiProperty({ format: 'date-time' })
  not_after!: string;
}

@ApiModel('FleetNode', 'A node, as it advertised itself.')
export class NodeDto {
  node_id!: string;
  /** For people. */
  label!: string;
  capabilities!: CapabilityEntryDto[];
  /** Empty: it takes runs. */
  @ApiProperty({ enum: DRAINS, enumName: 'Drain' })
  drain!: string;
  /** Its last advert. */
  @ApiProperty({ format: 'date-time' })
  seen_at!: string;
  /** It is live until then. */
  @ApiProperty({ format: 'date-time' })
  expires_at!: string;
  /** Who has taken it out of service, and why; null: nobody. */
  held!: HoldDto | null;
  /** False: its advert has expired. */
  live!: boolean;
  /** The run that holds it; null: none does. */
  lease!: NodeLeaseDto | null;
}

@ApiModel('Fleet', 'The nodes.')
export class NodesDto {
  /** When it was looked at, by the clock of the database. */
  @ApiProperty({ format: 'date-time' })
  observed_at!: string;
  /** By node_id. */
  items!: NodeDto[];
  /** The cursor of the following page; null: there is none. */
  @ApiProperty({ type: 'string' })
  next!: string | null;
}

@ApiModel('OfferedAttributes', 'Every attribute that live nodes offer with a capability, with the values there are.', {
  additionalProperties: { type: 'array', items: { type: 'string' } },
})
class OfferedAttributesDto {}

@ApiModel('Capability', 'What live nodes offer under one name.')
export class CapabilityDto {
  capability!: string;
  /** How many live nodes offer it. */
  @ApiProperty({ type: 'integer', minimum: 1 })
  nodes!: number;
  @ApiProperty({ type: OfferedAttributesDto })
  attrs!: Record<string, string[]>;
}

@ApiModel('CapabilityList', 'What exists, not what is free.')
export class CapabilitiesDto {
  /** By name. */
  items!: CapabilityDto[];
}
