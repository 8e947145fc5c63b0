import { Module } from '@nestjs/common';
import { QueueModule } from '../queue/queue.module.js';
import { RecordsModule } from '../records/records.module.js';
import { DeleteLeftover } from './delete-leftover.js';
import { ExpireRun } from './expire-run.js';
import { Reaper } from './reaper.js';
import { ReaperPass } from './reaper-pass.js';

@Module({
  imports: [QueueModule, RecordsModule],
  providers: [DeleteLeftover, ExpireRun, Reaper, ReaperPass],
  exports: [Reaper, ReaperPass],
})
export class ReaperModule {}
