import { Module } from '@nestjs/common';
import { FleetModule } from '../fleet/fleet.module.js';
import { LeasesModule } from '../leases/leases.module.js';
import { RecordsModule } from '../records/records.module.js';
import { ExplainWaiting } from './explain-waiting.js';
import { Promote } from './promote.js';
import { QueueView } from './queue-view.js';
import { QueueController } from './queue.controller.js';
import { QueueService } from './queue.service.js';
import { ReleaseEdge } from './release-edge.js';
import { ReturnRun } from './return-run.js';
import { ShowQueue } from './show-queue.js';
import { Sweep } from './sweep.js';

@Module({
  imports: [LeasesModule, FleetModule, RecordsModule],
  controllers: [QueueController],
  providers: [ExplainWaiting, Promote, QueueService, QueueView, ReleaseEdge, ReturnRun, ShowQueue, Sweep],
  exports: [ExplainWaiting, QueueService, ReleaseEdge, ReturnRun],
})
export class QueueModule {}
