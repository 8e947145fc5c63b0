import { Module } from '@nestjs/common';
import { DownloadsController } from './downloads.controller.js';
import { FollowLog } from './follow-log.js';
import { JudgeOutput } from './judge-output.js';
import { OpenUploads } from './open-uploads.js';
import { ReadBytes } from './read-bytes.js';
import { UploadOutput } from './upload-output.js';
import { UploadsController } from './uploads.controller.js';
import { WriteLog } from './write-log.js';

/** What runs leave behind: uploads, outputs and logs, in and out in pieces. */
@Module({
  controllers: [UploadsController, DownloadsController],
  providers: [FollowLog, JudgeOutput, OpenUploads, ReadBytes, UploadOutput, WriteLog],
})
export class BodiesModule {}
