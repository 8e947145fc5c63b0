import { Module } from '@nestjs/common';
import { QueueModule } from '../queue/queue.module.js';
import { RecordsModule } from '../records/records.module.js';
import { Advertise } from './advertise.js';
import { NodesController } from './nodes.controller.js';
import { ShowNodes } from './show-nodes.js';

@Module({
  imports: [QueueModule, RecordsModule],
  controllers: [NodesController],
  providers: [Advertise, ShowNodes],
})
export class NodesModule {}
