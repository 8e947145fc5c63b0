import { Module } from '@nestjs/common';
import { DownloadRecord } from './download-record.js';
import { RecordsController } from './records.controller.js';
import { SealRecord } from './seal-record.js';

@Module({
  controllers: [RecordsController],
  providers: [DownloadRecord, SealRecord],
  exports: [SealRecord],
})
export class RecordsModule {}
