import type { IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { Config } from '../platform/config/config.js';
import { Database } from '../platform/database/database.js';
import { cutAfter } from '../platform/http/caller-gone.js';
import { Problem } from '../platform/http/problem.js';
import { Lookout } from '../platform/notifier/lookout.js';
import { Notifier } from '../platform/notifier/notifier.js';
import { fenceUpload } from './fence-upload.js';
import { findEndedUploads, type Upload } from './fence-upload.sql.js';

/** Runs change all the time, and an upload that is over is not to be noticed at once. */
const PAUSE_MS = 200;
/** Of one caller: each has the memory of a chunk, and a connection. */
const MOST_OPEN = 256;
/** What an upload that was ended still sends is read for so long, so that its caller hears why. */
const UNREAD_SECONDS = 1;

interface OpenUpload {
  upload: Upload;
  body: IncomingMessage;
  end: (why: Problem) => void;
}

/**
 * Outputs and logs whose bodies are being read. One that would not be taken any more, since its run or its step has ended
 * or its lease is over, is ended: nobody sends for long what nobody wants. One query finds them, for all of the process,
 * when some run has changed, and at the latest once every renew period.
 */
@Injectable()
export class OpenUploads implements OnModuleInit, OnModuleDestroy {
  readonly #open = new Set<OpenUpload>();
  readonly #callers = new Map<string, number>();
  readonly #lookout = new Lookout('uploads that are over', () => this.#look());

  constructor(
    private readonly database: Database,
    private readonly notifier: Notifier,
    private readonly config: Config,
  ) {}

  onModuleInit(): void {
    this.#lookout.open({ notifier: this.notifier, on: ['runs'], everySeconds: this.config.renewSeconds });
  }

  onModuleDestroy(): void {
    void this.#lookout.close();
  }

  /** Does what takes a body. Refuses it, before anything is read, where its caller has as many under way as may be. */
  async admit<T>({ speaker, run_id }: Upload, act: () => Promise<T>): Promise<T> {
    // Operators speak for many nodes: theirs are told apart by the run.
    const caller = speaker === undefined ? `run ${run_id}` : `node ${speaker}`;
    const others = this.#callers.get(caller) ?? 0;
    if (others >= MOST_OPEN) {
      const detail = `${MOST_OPEN} uploads and logs of this caller are already under way`;
      throw new Problem('rate_limited', detail, { headers: { 'Retry-After': '1' } });
    }
    this.#callers.set(caller, others + 1);
    try {
      return await act();
    } finally {
      const left = this.#callers.get(caller)! - 1;
      if (left > 0) this.#callers.set(caller, left);
      else this.#callers.delete(caller);
    }
  }

  /** Takes the body while the signal is not aborted; its reason is then the problem to answer. */
  async watch<T>(upload: Upload, body: IncomingMessage, take: (ended: AbortSignal) => Promise<T>): Promise<T> {
    const ending = new AbortController();
    const open = { upload, body, end: (why: Problem) => ending.abort(why) };
    this.#open.add(open);
    try {
      return await take(ending.signal);
    } finally {
      this.#open.delete(open);
    }
  }

  async #look(): Promise<void> {
    try {
      await this.#endThoseThatAreOver();
    } finally {
      await sleep(PAUSE_MS, undefined, { ref: false });
    }
  }

  async #endThoseThatAreOver(): Promise<void> {
    const open = [...this.#open];
    if (open.length === 0) return;
    const places = await this.database.ask(findEndedUploads(open.map(({ upload }) => upload)));
    for (const place of places) await this.#end(open[place]!);
  }

  /** By what an upload that begins now would be answered. */
  async #end({ upload, body, end }: OpenUpload): Promise<void> {
    try {
      await this.database.transaction('end-upload', (tx) => fenceUpload(tx, upload));
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      end(error);
      cutAfter(body, UNREAD_SECONDS);
    }
  }
}
