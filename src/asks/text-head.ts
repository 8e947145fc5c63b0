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
