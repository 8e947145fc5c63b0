import { Module } from '@nestjs/common';
import { LeasesModule } from '../leases/leases.module.js';
import { QueueModule } from '../queue/queue.module.js';
import { RecordsModule } from '../records/records.module.js';
import { Claim } from './claim.js';
import { ExecutionController } from './execution.controller.js';
import { ParkedClaims } from './parked-claims.js';
import { ReportResult } from './report-result.js';

@Module({
  imports: [LeasesModule, QueueModule, RecordsModule],
  controllers: [ExecutionController],
  providers: [Claim, ParkedClaims, ReportResult],
})
export class ExecutionModule {}
