import { Module } from '@nestjs/common';
import { LeasesModule } from '../leases/leases.module.js';
import { QueueModule } from '../queue/queue.module.js';
import { RecordsModule } from '../records/records.module.js';
import { AnswerAsk } from './answer-ask.js';
import { AskNotices } from './ask-notices.js';
import { AsksController } from './asks.controller.js';
import { ShowInbox } from './show-inbox.js';

@Module({
  imports: [LeasesModule, QueueModule, RecordsModule],
  controllers: [AsksController],
  providers: [AnswerAsk, AskNotices, ShowInbox],
  exports: [AskNotices],
})
export class AsksModule {}
