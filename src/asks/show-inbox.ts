import { Injectable } from '@nestjs/common';
import { RUN_ID } from '../domain/contract/names.js';
import { rawJson } from '../domain/json/raw-json.js';
import { Database } from '../platform/database/database.js';
import { fromCursor, toCursor } from '../platform/http/cursor.js';
import { fillPage } from '../platform/http/fill-page.js';
import { Problem } from '../platform/http/problem.js';
import type { AskDto } from './ask.dto.js';
import { readHeads, type OpenAsk, readInbox, type ShownUpload, type InboxPlace } from './asks.sql.js';
import { mayAnswer } from './judge-answer.js';

/** The opaque form that a caller hands back. */
export function toInboxCursor({ asked_at, run_id, seq }: InboxPlace): string {
  return `${toCursor({ created_at: asked_at, seq: String(seq) })}.${Buffer.from(run_id).toString('base64url')}`;
}

/** Throws invalid_request where this server did not make the cursor. */
export function fromInboxCursor(cursor: string | undefined): InboxPlace | undefined {
  if (cursor === undefined) return undefined;
  const [keyset, run = ''] = cursor.split('.', 2);
  const { created_at, seq } = fromCursor(keyset)!;
  const run_id = Buffer.from(run, 'base64url').toString();
  if (!RUN_ID.accepts(run_id) || Number(seq) > 2 ** 31 - 1) {
    throw new Problem('invalid_request', 'cursor must be the `next` of an earlier page');
  }
  return { asked_at: created_at, run_id, seq: Number(seq) };
}

/** How much of a text is shown beside a question. */
export const HEAD_BYTES = 16 * 1024;

/** Whether a person can read it as it is: text, or JSON by whatever name. */
export function isText(mediaType: string): boolean {
  const [essence = ''] = mediaType.toLowerCase().split(';', 1);
  return /^text\/|^application\/json$|\+json$/.test(essence.trim());
}

/** The head of a text, cut between two characters; undefined where its bytes are no UTF-8, whatever its type says. */
export function textHead(head: Buffer, size: number): string | undefined {
  const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  try {
    // Told that more will come, the decoder keeps back the character that the cut has halved.
    return utf8.decode(head, { stream: size > head.length });
  } catch {
    return undefined;
  }
}

/** Open questions as they are shown to somebody: whether they may answer, and what they should look at before. */
@Injectable()
export class ShowInbox {
  constructor(private readonly database: Database) {}

  /** At most so many, and no more than fill a page; the texts that they show are read as it fills. */
  async page(principal: string, limit: number, after?: InboxPlace): Promise<{ items: AskDto[]; next?: InboxPlace }> {
    const { rows, more } = await this.database.ask(readInbox(limit, after));
    const items = await fillPage(rows, {
      most: ({ bytes, shown }) => bytes + shown.reduce((sum, upload) => sum + mostBytes(upload), 0),
      show: (some) => this.#show(principal, some),
    });
    return { items, next: more || items.length < rows.length ? rows[items.length - 1]?.place : undefined };
  }

  async #show(principal: string, asks: readonly OpenAsk[]): Promise<AskDto[]> {
    const texts = asks.flatMap(({ shown }) => shown.filter((upload) => isText(upload.media_type)));
    const read = new Set(texts.map((upload) => upload.upload_id));
    const heads = read.size > 0 ? await this.database.ask(readHeads([...read], HEAD_BYTES)) : new Map<string, Buffer>();
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
