import { Module } from '@nestjs/common';
import { FleetModule } from '../fleet/fleet.module.js';
import { QueueModule } from '../queue/queue.module.js';
import { RecordsModule } from '../records/records.module.js';
import { Advertise } from './advertise.js';
import { ForgetNode } from './forget-node.js';
import { HoldNode } from './hold-node.js';
import { HoldsController } from './holds.controller.js';
import { LiftHold } from './lift-hold.js';
import { NodesController } from './nodes.controller.js';
import { ShowNodes } from './show-nodes.js';

@Module({
  imports: [FleetModule, QueueModule, RecordsModule],
  controllers: [NodesController, HoldsController],
  providers: [Advertise, ForgetNode, HoldNode, LiftHold, ShowNodes],
})
export class NodesModule {}
