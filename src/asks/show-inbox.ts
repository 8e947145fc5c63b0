import { Injectable } from '@nestjs/common';
import { rawJson } from '../domain/json/raw-json.js';
import { mayAnswer } from '../domain/may-answer.js';
import { Database } from '../platform/database/database.js';
import type { AskDto } from './ask.dto.js';
import type { InboxPlace } from './inbox-cursor.js';
import { readHeads } from './read-heads.sql.js';
import { readInbox } from './read-inbox.sql.js';
import { HEAD_BYTES, isText, textHead } from './text-head.js';

/** Texts a page carries at most: 4 MiB of them. What comes after is named without its text. */
const MOST_TEXTS = 256;

/** Open questions as they are shown to somebody: whether they may answer, and what they should look at before. */
@Injectable()
export class ShowInbox {
  constructor(private readonly database: Database) {}

  async page(principal: string, limit: number, after?: InboxPlace): Promise<{ items: AskDto[]; next?: InboxPlace }> {
    const rows = await readInbox(this.database, limit + 1, after);
    const asks = rows.slice(0, limit);
    const texts = asks.flatMap(({ shown }) => shown.filter((upload) => isText(upload.media_type)));
    const read = new Set(texts.map((upload) => upload.upload_id).slice(0, MOST_TEXTS));
    const heads = read.size > 0 ? await readHeads(this.database, [...read], HEAD_BYTES) : new Map<string, Buffer>();
    return {
      items: asks.map(({ place: _place, schema, asked_at, deadline, shown, ...ask }) => ({
        ...ask,
        schema: rawJson<Record<string, unknown>>(schema),
        asked_at: asked_at.toISOString(),
        deadline: deadline?.toISOString() ?? null,
        can_answer: mayAnswer(ask.answerers, principal),
        shown: shown.map(({ upload_id, ...upload }) => {
          const text = read.has(upload_id) ? textHead(heads.get(upload_id) ?? Buffer.alloc(0), upload.size) : undefined;
          return { ...upload, ...(text !== undefined && { text }) };
        }),
      })),
      next: rows.length > limit ? asks.at(-1)?.place : undefined,
    };
  }
}
