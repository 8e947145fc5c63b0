/** How much of a body is in memory at once, for each of its readers (and twice that, as text, while it comes). */
const PIECE_BYTES = 256 * 1024;

/**
 * A stored body from `first` to before `end`, piece by piece, each read when it is asked for by a statement of its own:
 * a reader that is slow, or has gone to sleep, holds no connection.
 */
export async function* inPieces(
  first: number,
  end: number,
  read: (from: number, to: number) => Promise<Uint8Array>,
): AsyncGenerator<Uint8Array, void> {
  for (let at = first; at < end; at += PIECE_BYTES) {
    const to = Math.min(at + PIECE_BYTES, end);
    const piece = await read(at, to);
    // Its record was purged, or its upload replaced, while it was read: the answer breaks off rather than be wrong.
    if (piece.length !== to - at) throw new Error(`the bytes from ${at} to ${to} are not there any more`);
    yield piece;
  }
}
