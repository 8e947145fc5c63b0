import { Module } from '@nestjs/common';
import { FleetModule } from '../fleet/fleet.module.js';
import { QueueModule } from '../queue/queue.module.js';
import { RecordsModule } from '../records/records.module.js';
import { Advertise } from './advertise.js';
import { ForgetNode } from './forget-node.js';
import { GrantsController } from './grants.controller.js';
import { HoldNode } from './hold-node.js';
import { HoldsController } from './holds.controller.js';
import { LiftHold } from './lift-hold.js';
import { NodesController } from './nodes.controller.js';
import { ShowGrants } from './show-grants.js';
import { ShowNodes } from './show-nodes.js';

@Module({
  imports: [FleetModule, QueueModule, RecordsModule],
  controllers: [NodesController, HoldsController, GrantsController],
  providers: [Advertise, ForgetNode, HoldNode, LiftHold, ShowGrants, ShowNodes],
})
export class NodesModule {}
