export interface LogAppend {
  /** What is to be added at the end; nothing where it is there already, or where the log was cut. */
  bytes: Buffer;
  /** The log ends with these bytes, whatever comes later. */
  cut: boolean;
}

/**
 * What becomes of a chunk that is to stand at an offset of a log (undefined: at its end). Bytes below the size that is
 * there are dropped, since they have come before. What is over the limit is cut off, and a line says so.
 * Undefined: the offset lies beyond the end.
 */
export function logAppend(
  { size, cut }: { size: number; cut: boolean },
  offset: number | undefined,
  chunk: Buffer,
  limit: number,
  marker: string = cutMarker(limit),
): LogAppend | undefined {
  if (cut) return { bytes: Buffer.alloc(0), cut };
  const at = offset ?? size;
  if (at > size) return undefined;
  const fresh = chunk.subarray(Math.min(size - at, chunk.length));
  const room = limit - size;
  if (fresh.length <= room) return { bytes: fresh, cut: false };
  const kept = fresh.subarray(0, endOfCharacter(fresh, room));
  return { bytes: Buffer.concat([kept, Buffer.from(marker)]), cut: true };
}

/** The last line of a log that was cut. */
export function cutMarker(limit: number): string {
  return `\n[the log is cut here: it is larger than ${limit} bytes]\n`;
}

/** The last line of a log that was cut since its run may not store more. */
export function runFullMarker(limit: number): string {
  return `\n[the log is cut here: its run stores at most ${limit} bytes]\n`;
}

/** At most so many bytes, without the beginning of a character that goes on behind them. */
function endOfCharacter(bytes: Buffer, most: number): number {
  for (let end = most; end > Math.max(0, most - 4); end--) {
    if ((bytes[end]! & 0xc0) !== 0x80) return end;
  }
  return most;
}
