import { createHash, randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Send } from './http.js';

export interface TokenEntry {
  name: string;
  role: 'submitter' | 'node' | 'operator';
  node_id?: string;
  sha256?: string;
}

/** A tokens file in a folder of its own. It is there before it has a token. */
export class TokensFile {
  readonly #folder = mkdtempSync(join(tmpdir(), 'mediator-tokens-'));
  readonly path = join(this.#folder, 'tokens.json');
  #entries: TokenEntry[] = [];

  /** Adds a token and gives it. */
  add(entry: TokenEntry): string {
    const token = `mdt_${randomBytes(32).toString('base64url')}`;
    this.#entries.push({ ...entry, sha256: createHash('sha256').update(token).digest('hex') });
    this.write(this.#entries);
    return token;
  }

  /** Takes all tokens of this name away. */
  take(name: string): void {
    this.#entries = this.#entries.filter((entry) => entry.name !== name);
    this.write(this.#entries);
  }

  /** Writes whatever is to stand there; a text as it is. */
  write(content: unknown): void {
    writeFileSync(this.path, typeof content === 'string' ? content : JSON.stringify(content));
  }

  remove(): void {
    rmSync(this.#folder, { recursive: true });
  }
}

export function bearer(token: string): { authorization: string } {
  return { authorization: `Bearer ${token}` };
}

/** Sends by a token. */
export function speakingWith(send: Send, token: string): Send {
  return (method, path, options = {}) =>
    send(method, path, { ...options, headers: { ...bearer(token), ...options.headers } });
}
