import { Injectable } from '@nestjs/common';
import { Database } from '../platform/database/database.js';
import { failpoint } from '../platform/failpoints.js';
import { unavailable } from '../platform/http/problem.filter.js';
import { Problem } from '../platform/http/problem.js';
import { inPieces } from '../records/in-pieces.js';
import { readBlobBytes, readLogBytes, type LogKey } from '../records/record-bodies.sql.js';
import { blobExists, findBlob, type FoundBlob, isHeldBy } from './blobs.sql.js';

/** Outputs and logs as bytes, read piece by piece: no connection is held between two of them. */
@Injectable()
export class ReadBytes {
  constructor(private readonly database: Database) {}

  /** 403 where the run does not hold this node: its outputs are no business of the node's. */
  async refuseUnlessHeld(runId: string, nodeId: string): Promise<void> {
    const held = await this.database.ask(isHeldBy(runId, nodeId));
    if (held === undefined) throw new Problem('not_found', `there is no run ${runId}`);
    if (!held) throw new Problem('forbidden', `run ${runId} does not hold node ${nodeId}`);
  }

  /** The newest upload of that name; undefined where there is none. */
  findBlob(runId: string, name: string): Promise<FoundBlob | undefined> {
    return this.database.ask(findBlob(runId, name));
  }

  /** Throws unavailable where a later upload takes its place meanwhile: asked again, that one comes. */
  async *ofBlob(uploadId: string, first: number, end: number): AsyncGenerator<Uint8Array> {
    await failpoint('read-blob.found');
    try {
      yield* inPieces(first, end, (from, to) => this.database.ask(readBlobBytes(uploadId, from, to)));
    } catch (error) {
      if (await this.database.ask(blobExists(uploadId))) throw error;
      throw unavailable('the output was replaced, or purged, while it was read; ask again');
    }
  }

  ofLog(log: LogKey, first: number, end: number): AsyncIterable<Uint8Array> {
    return inPieces(first, end, (from, to) => this.database.ask(readLogBytes(log, from, to)));
  }
}
