import { Module } from '@nestjs/common';
import { QueueModule } from '../queue/queue.module.js';
import { RecordsModule } from '../records/records.module.js';
import { CancelRun } from './cancel-run.js';
import { RunsController } from './runs.controller.js';
import { ShowRun } from './show-run.js';

@Module({
  imports: [QueueModule, RecordsModule],
  controllers: [RunsController],
  providers: [CancelRun, ShowRun],
  exports: [ShowRun],
})
export class RunsModule {}
