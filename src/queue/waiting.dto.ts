import { ApiProperty } from '@nestjs/swagger';
import type { WaitingReason } from '../domain/waiting/waiting.js';

export class RequirementDto {
  /** The role's name. */
  as!: string;
  capability!: string;
  /** How many distinct nodes; 1 where absent. */
  @ApiProperty({ type: 'integer', minimum: 1, maximum: 64, required: false })
  count?: number;
  @ApiProperty({ selfRequired: false, type: 'object', additionalProperties: { type: 'string' } })
  attrs?: Record<string, string>;
}

export class HolderDto {
  node_id!: string;
  run_id!: string;
  @ApiProperty({ format: 'date-time' })
  since!: string;
  @ApiProperty({ format: 'date-time' })
  not_after!: string;
}

export class WaitingRoleDto {
  as!: string;
  @ApiProperty({ type: 'integer' })
  count!: number;
  /** Nodes that offer it. */
  @ApiProperty({ type: 'integer' })
  live!: number;
  @ApiProperty({ type: 'integer' })
  free!: number;
  @ApiProperty({ type: 'integer' })
  busy!: number;
  /** Not busy, but about to go. */
  @ApiProperty({ type: 'integer' })
  draining!: number;
  /** Who holds the busy ones. */
  holders!: HolderDto[];
}

/** Why a run waits; computed when it is read. */
export class WaitingDto {
  @ApiProperty({ format: 'date-time' })
  since!: string;
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

export class QueuedRunDto {
  run_id!: string;
  work_id!: string | null;
  principal!: string;
  @ApiProperty({ format: 'date-time' })
  created_at!: string;
  requires!: RequirementDto[];
  waiting!: WaitingDto;
}

export class QueueDto {
  @ApiProperty({ format: 'date-time' })
  observed_at!: string;
  /** How many runs are QUEUED. */
  @ApiProperty({ type: 'integer' })
  depth!: number;
  /** In arrival order. */
  items!: QueuedRunDto[];
  /** Cursor of the next page; null at the end. */
  next!: string | null;
}
