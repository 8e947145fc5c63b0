import { Module } from '@nestjs/common';
import { RecordsController } from './records.controller.js';
import { SealRecord } from './seal-record.js';

@Module({ controllers: [RecordsController], providers: [SealRecord], exports: [SealRecord] })
export class RecordsModule {}
