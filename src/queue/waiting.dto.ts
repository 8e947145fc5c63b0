import { ApiProperty } from '@nestjs/swagger';
import { type Requirement, REQUIREMENTS } from '../domain/contract/contract.js';
import type { WaitingReason } from '../domain/waiting/why-waiting.js';
import { ApiModel, ApiShape } from '../platform/http/api-model.decorator.js';

@ApiModel('Holder', 'The lease that keeps a node busy.')
export class HolderDto {
  node_id!: string;
  run_id!: string;
  /** Who submitted that run. */
  principal!: string;
  @ApiProperty({ format: 'date-time' })
  since!: string;
  /** When it ends if nobody renews it; each heartbeat of the node does. */
  @ApiProperty({ format: 'date-time' })
  not_after!: string;
}

@ApiModel(
  'WaitingRole',
  'What there is for a role of a run that waits. A node counts once: busy before draining before held before free.',
)
export class WaitingRoleDto {
  /** The name of the role. */
  as!: string;
  /** How many nodes it needs. */
  @ApiProperty({ type: 'integer', minimum: 1 })
  count!: number;
  /** Live nodes that offer it. */
  @ApiProperty({ type: 'integer', minimum: 0 })
  live!: number;
  @ApiProperty({ type: 'integer', minimum: 0 })
  free!: number;
  @ApiProperty({ type: 'integer', minimum: 0 })
  busy!: number;
  /** Not busy, but about to go. */
  @ApiProperty({ type: 'integer', minimum: 0 })
  draining!: number;
  /** Neither busy nor draining, but taken out of service. */
  @ApiProperty({ type: 'integer', minimum: 0 })
  held!: number;
  /** Not live, but heard of lately: they count in none of the others. */
  @ApiProperty({ type: 'integer', minimum: 0 })
  silent!: number;
  /** Who holds the busy ones: at most 20 of them, those that the matcher prefers. */
  holders!: HolderDto[];
}

@ApiModel('Waiting', 'Why a run waits, computed when it is read. No part of what `version` counts.')
export class WaitingDto {
  /** When it was queued. */
  @ApiProperty({ format: 'date-time' })
  since!: string;
  /**
   * The first that holds: `OFFLINE`: no live nodes fit it, `TOO_WIDE`: they do, but it would take more than one run may
   * hold, `DRAINING`: it would go if nodes that drain or are held were free, `BUSY`: others hold them.
   */
  @ApiProperty({ enum: ['OFFLINE', 'TOO_WIDE', 'DRAINING', 'BUSY'], enumName: 'WaitingReason' })
  reason!: WaitingReason;
  /** A sentence for a person. */
  detail!: string;
  /** Place among the queued runs in arrival order, from 1. */
  @ApiProperty({ type: 'integer', minimum: 1 })
  position!: number;
  /** How many of the older queued runs could take a node that this one could take. */
  @ApiProperty({ type: 'integer', minimum: 0 })
  ahead!: number;
  roles!: WaitingRoleDto[];
}

@ApiModel('QueueItem', 'A run that waits, as the queue shows it.')
export class QueueItemDto {
  run_id!: string;
  /** `<system>:<change_id>`; null where the contract names no work. */
  work_id!: string | null;
  /** Who submitted it. */
  principal!: string;
  @ApiProperty({ format: 'date-time' })
  created_at!: string;
  @ApiShape(REQUIREMENTS)
  requires!: Requirement[];
  waiting!: WaitingDto;
}

@ApiModel('Queue', 'A page of the queue.')
export class QueueDto {
  /** When it was looked at, by the clock of the database. */
  @ApiProperty({ format: 'date-time' })
  observed_at!: string;
  /** How many runs are QUEUED, on all pages. */
  @ApiProperty({ type: 'integer', minimum: 0 })
  depth!: number;
  /** In arrival order. */
  items!: QueueItemDto[];
  /** Cursor of the next page; null at the end. */
  next!: string | null;
}
