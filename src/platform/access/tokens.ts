import { createHash, timingSafeEqual } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { Injectable, Logger, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { Config } from '../config/config.js';
import { readTokensFile } from './read-tokens.js';
import type { KnownToken, Token } from './token.js';

/*
 * The tokens that are known now. With a tokens file, SIGHUP reads it again: what it says holds for every request that
 * comes after, and a file with a fault changes nothing. Calls that wait by a token which is gone are answered at once, so
 * that nobody is handed a step in its name. What is under way otherwise (an upload, a download) ends as it began.
 * Without a tokens file this does nothing, and a SIGHUP ends the process as it always does.
 */
@Injectable()
export class Tokens implements OnModuleInit, OnModuleDestroy {
  readonly #logger = new Logger('tokens');
  readonly #onHangup = (): void => this.reload();
  #known: { token: KnownToken; revoke: () => void }[];

  constructor(private readonly config: Config) {
    this.#known = (config.tokens ?? []).map(known);
  }

  /** There are none: everybody is operator. */
  get open(): boolean {
    return this.config.tokensFile === undefined;
  }

  onModuleInit(): void {
    if (this.open) return;
    this.#warn(this.config.tokensWarning);
    process.on('SIGHUP', this.#onHangup);
  }

  #warn(warning: string | undefined): void {
    if (warning !== undefined)
      this.#logger.warn({
        msg: 'the tokens file is taken, but others may change it',
        file: this.config.tokensFile,
        warning,
      });
  }

  onModuleDestroy(): void {
    process.off('SIGHUP', this.#onHangup);
  }

  /**
   * The entry of this token. Its hash is compared with every one there is, each in constant time and without stopping at
   * the one that fits: a look-up by hash would take a time that depends on how the hashes are spread and how far they
   * agree. That would hardly help anybody, who cannot choose what a token hashes to; but this is plainly free of it, and
   * costs a thousandth of a second for a few thousand tokens.
   */
  find(presented: string): KnownToken | undefined {
    const hash = createHash('sha256').update(presented).digest();
    let found: KnownToken | undefined;
    for (const { token } of this.#known) if (timingSafeEqual(hash, token.sha256)) found = token;
    return found;
  }

  /** Reads the tokens file again. */
  reload(): void {
    const read = readTokensFile(this.config.tokensFile!);
    if (!read.ok) {
      this.#logger.error({
        msg: 'the tokens file has faults; the previous tokens stay in force',
        tokens: this.#known.length,
        faults: read.faults,
      });
      return;
    }
    const before = this.#known;
    const next = read.tokens.map((token) => before.find((one) => same(one.token, token)) ?? known(token));
    this.#known = next;
    const gone = before.filter((one) => !next.includes(one));
    for (const { revoke } of gone) revoke();
    this.#warn(read.warning);
    this.#logger.log({ msg: 'the tokens file was read again', tokens: next.length, revoked: gone.length });
  }
}

function known(token: Token): { token: KnownToken; revoke: () => void } {
  const revocation = new AbortController();
  // One listener for every call that waits.
  setMaxListeners(0, revocation.signal);
  return { token: { ...token, revoked: revocation.signal }, revoke: () => revocation.abort() };
}

function same(a: Token, b: Token): boolean {
  return a.name === b.name && a.role === b.role && a.nodeId === b.nodeId && a.sha256.equals(b.sha256);
}
