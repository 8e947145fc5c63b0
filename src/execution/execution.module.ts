import { Module } from '@nestjs/common';
import { QueueModule } from '../queue/queue.module.js';
import { RecordsModule } from '../records/records.module.js';
import { Claim } from './claim.js';
import { ExecutionController } from './execution.controller.js';
import { JudgeOutput } from './judge-output.js';
import { OpenUploads } from './open-uploads.js';
import { ParkedClaims } from './parked-claims.js';
import { ReportResult } from './report.js';
import { UploadOutput } from './upload-output.js';
import { UploadsController } from './uploads.controller.js';
import { WriteLog } from './write-log.js';

@Module({
  imports: [QueueModule, RecordsModule],
  controllers: [ExecutionController, UploadsController],
  providers: [Claim, JudgeOutput, OpenUploads, ParkedClaims, ReportResult, UploadOutput, WriteLog],
})
export class ExecutionModule {}
