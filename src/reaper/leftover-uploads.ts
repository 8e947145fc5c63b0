import { Injectable } from '@nestjs/common';
import { Database } from '../platform/database/database.js';
import { deleteUpload } from '../records/delete-upload.sql.js';
import { findLeftoverUploads } from './find-leftover-uploads.sql.js';
import type { ReaperPart } from './reaper-part.js';

/** No upload takes as long; one that does is told to begin again. */
const LONGEST_SECONDS = 3600;
const UPLOADS_PER_PASS = 1000;

/** Deletes uploads that a crash has left behind. They were never seen, and are no part of a record. */
@Injectable()
export class LeftoverUploads implements ReaperPart<string> {
  readonly name = 'uploads';
  readonly wakes = undefined;

  constructor(private readonly database: Database) {}

  find(): Promise<string[]> {
    return findLeftoverUploads(this.database, LONGEST_SECONDS, UPLOADS_PER_PASS);
  }

  reap(uploadId: string): Promise<boolean> {
    return this.database.transaction('leftover-upload', (tx) => deleteUpload(tx, uploadId));
  }
}
