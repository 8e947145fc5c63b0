import { Injectable } from '@nestjs/common';
import { rawJson } from '../domain/json/raw-json.js';
import { mayAnswer } from '../domain/may-answer.js';
import { Database } from '../platform/database/database.js';
import { fillPage } from '../platform/http/fill-page.js';
import type { AskDto } from './ask.dto.js';
import type { InboxPlace } from './inbox-cursor.js';
import { readHeads } from './read-heads.sql.js';
import { type OpenAsk, readInbox, type ShownUpload } from './read-inbox.sql.js';
import { HEAD_BYTES, isText, textHead } from './text-head.js';

/** Open questions as they are shown to somebody: whether they may answer, and what they should look at before. */
@Injectable()
export class ShowInbox {
  constructor(private readonly database: Database) {}

  /** At most so many, and no more than fill a page; the texts that they show are read as it fills. */
  async page(principal: string, limit: number, after?: InboxPlace): Promise<{ items: AskDto[]; next?: InboxPlace }> {
    const { rows, more } = await readInbox(this.database, limit, after);
    const items = await fillPage(rows, {
      most: ({ bytes, shown }) => bytes + shown.reduce((sum, upload) => sum + mostBytes(upload), 0),
      show: (some) => this.#show(principal, some),
    });
    return { items, next: more || items.length < rows.length ? rows[items.length - 1]?.place : undefined };
  }

  async #show(principal: string, asks: readonly OpenAsk[]): Promise<AskDto[]> {
    const texts = asks.flatMap(({ shown }) => shown.filter((upload) => isText(upload.media_type)));
    const read = new Set(texts.map((upload) => upload.upload_id));
    const heads = read.size > 0 ? await readHeads(this.database, [...read], HEAD_BYTES) : new Map<string, Buffer>();
    return asks.map(({ place: _place, bytes: _bytes, asked_at, deadline, shown, ...ask }) => ({
      run_id: ask.run_id,
      seq: ask.seq,
      id: ask.id,
      prompt: ask.prompt,
      schema: rawJson<Record<string, unknown>>(ask.schema),
      answerers: ask.answerers,
      asked_at: asked_at.toISOString(),
      deadline: deadline?.toISOString() ?? null,
      can_answer: mayAnswer(ask.answerers, principal),
      shown: shown.map(({ upload_id, ...upload }) => {
        const text = read.has(upload_id) ? textHead(heads.get(upload_id) ?? Buffer.alloc(0), upload.size) : undefined;
        return { ...upload, ...(text !== undefined && { text }) };
      }),
    }));
  }
}

/** An upload with its names, and the head of its text. */
function mostBytes({ media_type, size }: ShownUpload): number {
  return 400 + (isText(media_type) ? Math.min(size, HEAD_BYTES) : 0);
}
