import { Module } from '@nestjs/common';
import { ExplainWaiting } from './explain-waiting.js';
import { Promote } from './promote.js';
import { QueueController } from './queue.controller.js';
import { QueueService } from './queue.service.js';
import { ShowQueue } from './show-queue.js';
import { Sweep } from './sweep.js';

@Module({
  controllers: [QueueController],
  providers: [ExplainWaiting, Promote, QueueService, ShowQueue, Sweep],
  exports: [ExplainWaiting, QueueService],
})
export class QueueModule {}
