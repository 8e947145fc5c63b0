import { Module } from '@nestjs/common';
import { FleetModule } from '../fleet/fleet.module.js';
import { QueueModule } from '../queue/queue.module.js';
import { RecordsModule } from '../records/records.module.js';
import { Advertise } from './advertise.js';
import { NodesController } from './nodes.controller.js';
import { ShowNodes } from './show-nodes.js';

@Module({
  imports: [FleetModule, QueueModule, RecordsModule],
  controllers: [NodesController],
  providers: [Advertise, ShowNodes],
})
export class NodesModule {}
