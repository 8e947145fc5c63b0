import { Body, Controller, Delete, HttpCode, Param, Put } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { MayCall } from '../platform/access/may-call.decorator.js';
import { TakesNoBody } from '../platform/http/json-body.js';
import { Principal } from '../platform/http/principal.js';
import { ReleaseEdge } from '../queue/release-edge.js';
import { ForgetNode } from './forget-node.js';
import { HoldNode } from './hold-node.js';
import { HoldNodeDto } from './hold.dto.js';
import { ForgetNodeApi, HoldNodeApi, LiftHoldApi } from './holds.api.js';
import { LiftHold } from './lift-hold.js';
import type { NodeDto } from './node.dto.js';
import { ShowNodes } from './show-nodes.js';

@ApiTags('nodes')
@Controller('v1/nodes/:node_id')
export class HoldsController {
  constructor(
    private readonly holdNode: HoldNode,
    private readonly liftHold: LiftHold,
    private readonly forgetNode: ForgetNode,
    private readonly show: ShowNodes,
    private readonly edge: ReleaseEdge,
  ) {}

  /** Takes a node out of service. */
  @Put('hold')
  @MayCall('operator')
  @HoldNodeApi()
  async hold(
    @Param('node_id') nodeId: string,
    @Body() { reason }: HoldNodeDto,
    @Principal() by: string,
  ): Promise<NodeDto> {
    await this.holdNode.hold(nodeId, reason, by);
    return this.show.node(nodeId);
  }

  /** Puts a node back into service. */
  @Delete('hold')
  @MayCall('operator')
  @TakesNoBody()
  @LiftHoldApi()
  async lift(@Param('node_id') nodeId: string, @Principal() by: string): Promise<NodeDto> {
    await this.edge.run(
      () => this.liftHold.lift(nodeId, by),
      (freed) => ({ whys: freed ? ['hold-lift'] : [], ended: [] }),
    );
    return this.show.node(nodeId, { forgotten: true });
  }

  /** Forgets a node that is gone for good. */
  @Delete()
  @MayCall('operator')
  @TakesNoBody()
  @HttpCode(204)
  @ForgetNodeApi()
  async forget(@Param('node_id') nodeId: string, @Principal() by: string): Promise<void> {
    await this.forgetNode.forget(nodeId, by);
  }
}
