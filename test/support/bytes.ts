import { createHash } from 'node:crypto';

/** An answer whose body is bytes. */
export interface BytesAnswer {
  status: number;
  headers: Headers;
  bytes: Buffer<ArrayBuffer>;
}

/** Reads something that is no JSON. */
export async function get(
  url: string,
  headers: Record<string, string> = {},
  { method = 'GET', signal }: { method?: string; signal?: AbortSignal } = {},
): Promise<BytesAnswer> {
  const response = await fetch(url, { method, headers, signal });
  return { status: response.status, headers: response.headers, bytes: Buffer.from(await response.arrayBuffer()) };
}

export function sha256(bytes: Uint8Array | string): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** So many bytes that look random and are the same each time. */
export function bytesOf(size: number, seed = 1): Buffer<ArrayBuffer> {
  let state = seed;
  return Buffer.from(Uint8Array.from({ length: size }, () => (state = (state * 48_271) % 2_147_483_647) & 255));
}
