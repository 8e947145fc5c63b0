import { createHmac } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

export interface Receiver {
  url: string;
  /** What the body is signed with; without it, it is not. */
  secret?: string;
}

export interface Patience {
  tries: number;
  /** For one try. */
  timeoutMs: number;
  /** After the first try; four times as long after each further one. */
  pauseMs: number;
}

/** Altogether at most 47 s: 5 tries of 5 s, and pauses of 0.25, 1, 4 and 16 s. A receiver can be restarted meanwhile. */
export const PATIENCE: Patience = { tries: 5, timeoutMs: 5000, pauseMs: 250 };

/** `stopped`: it was not sent, or may have been, and another process has to send it. */
export type Delivery = { kind: 'sent' } | { kind: 'given-up'; last: string } | { kind: 'stopped' };

/** Posts the JSON text until the receiver takes it with a 2xx, patience ends, or the process stops. Never throws. */
export async function deliver(
  receiver: Receiver,
  body: string,
  stopping: AbortSignal,
  { tries, timeoutMs, pauseMs }: Patience = PATIENCE,
): Promise<Delivery> {
  for (let made = 1; ; made++) {
    const fault = await post(receiver, body, stopping, timeoutMs);
    if (fault === undefined) return { kind: 'sent' };
    if (stopping.aborted) return { kind: 'stopped' };
    if (made === tries) return { kind: 'given-up', last: fault };
    // Jitter: what failed together does not come back together.
    const pause = pauseMs * 4 ** (made - 1) * (0.5 + Math.random() / 2);
    await sleep(pause, undefined, { signal: stopping }).catch(() => undefined);
  }
}

/** One try. Gives what was wrong; nothing: it was accepted. A redirect is not followed: only the configured URL gets notices. */
async function post(
  { url, secret }: Receiver,
  body: string,
  stopping: AbortSignal,
  timeoutMs: number,
): Promise<string | undefined> {
  if (stopping.aborted) return 'the server is stopping';
  const end = new AbortController();
  const abort = (): void => end.abort();
  const timer = setTimeout(() => end.abort(new Error(`no answer within ${timeoutMs / 1000} s`)), timeoutMs);
  stopping.addEventListener('abort', abort);
  try {
    const response = await fetch(url, {
      method: 'POST',
      redirect: 'manual',
      headers: { 'content-type': 'application/json', 'user-agent': 'mediator', ...signature(secret, body) },
      body,
      signal: end.signal,
    });
    // What it says is of no interest, however much it is.
    response.body?.cancel().catch(() => undefined);
    return response.ok ? undefined : `it answered ${response.status}`;
  } catch (error) {
    const { message, cause } = error as Error & { cause?: { message?: string } };
    return cause?.message === undefined ? message : `${message}: ${cause.message}`;
  } finally {
    clearTimeout(timer);
    stopping.removeEventListener('abort', abort);
  }
}

function signature(secret: string | undefined, body: string): Record<string, string> {
  if (secret === undefined) return {};
  return { 'mediator-signature': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}` };
}
