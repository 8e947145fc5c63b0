import { Module } from '@nestjs/common';
import { BodiesController } from './bodies/bodies.controller.js';
import { FollowLog } from './bodies/follow-log.js';
import { ReadBytes } from './bodies/read-bytes.js';
import { DownloadRecord } from './download-record.js';
import { RecordsController } from './records.controller.js';
import { SealRecord } from './seal-record.js';

@Module({
  controllers: [RecordsController, BodiesController],
  providers: [DownloadRecord, FollowLog, ReadBytes, SealRecord],
  exports: [SealRecord],
})
export class RecordsModule {}
