/** Where a run stands in the order of arrival. */
export interface ArrivalKey {
  /** Microseconds since 1970: exact in a double until the year 2255. */
  arrived: number;
  /** Tells apart who arrived in the same microsecond. */
  seq: number;
}

/** A queued run and where it stands. */
export interface QueuedRun extends ArrivalKey {
  run_id: string;
  /** Equal for runs that require the same. */
  signature: string;
  /** The server has steps of its own to do in it, or that is not known: it is promoted in a transaction of its own. */
  serverSteps: boolean;
}

export function isOlder(a: ArrivalKey, b: ArrivalKey): boolean {
  return a.arrived < b.arrived || (a.arrived === b.arrived && a.seq < b.seq);
}

/** Most in one piece: what is moved where a run comes or goes in the middle. */
const LONGEST = 512;

/**
 * Queued runs in order of arrival, in pieces: to come, to go and to be counted costs a few hundred steps with 100,000 of
 * them, and a run that comes last, as most do, costs one.
 */
export class RunsInOrder {
  readonly #pieces: QueuedRun[][] = [];
  #size = 0;

  get size(): number {
    return this.#size;
  }

  get first(): QueuedRun | undefined {
    return this.#pieces[0]?.[0];
  }

  add(run: QueuedRun): void {
    this.#size += 1;
    const at = Math.max(0, this.#pieceOf(run));
    const piece = this.#pieces[at];
    if (piece === undefined) return void this.#pieces.push([run]);
    const index = countOlder(piece, run);
    // One that is full is left so where the run comes behind it, or a queue that only grows would be half empty pieces.
    if (piece.length >= LONGEST && index === piece.length) return void this.#pieces.splice(at + 1, 0, [run]);
    piece.splice(index, 0, run);
    if (piece.length > LONGEST) this.#pieces.splice(at + 1, 0, piece.splice(LONGEST >>> 1));
  }

  /** Takes out the run with this key; there must be one. */
  delete(key: ArrivalKey): void {
    const at = this.#pieceOf(key);
    const piece = this.#pieces[at]!;
    this.#size -= 1;
    piece.splice(countOlder(piece, key), 1);
    if (piece.length === 0) this.#pieces.splice(at, 1);
  }

  /** How many are older. */
  countBefore(key: ArrivalKey): number {
    const at = this.#pieceOf(key);
    if (at < 0) return 0;
    let count = countOlder(this.#pieces[at]!, key);
    for (let before = 0; before < at; before++) count += this.#pieces[before]!.length;
    return count;
  }

  /** From the run with this key, or the first behind it, on. */
  *from(key: ArrivalKey): Generator<QueuedRun, void, undefined> {
    const first = Math.max(0, this.#pieceOf(key));
    for (let at = first; at < this.#pieces.length; at++) {
      const piece = this.#pieces[at]!;
      for (let index = at === first ? countOlder(piece, key) : 0; index < piece.length; index++) yield piece[index]!;
    }
  }

  /** The oldest of those that are newer. */
  next(key: ArrivalKey): QueuedRun | undefined {
    for (const run of this.from(key)) if (isOlder(key, run)) return run;
    return undefined;
  }

  /** The last piece that begins no later than this; -1: all of them begin later. */
  #pieceOf(key: ArrivalKey): number {
    let [low, high] = [0, this.#pieces.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (isOlder(key, this.#pieces[middle]![0]!)) high = middle;
      else low = middle + 1;
    }
    return low - 1;
  }
}

function countOlder(runs: readonly QueuedRun[], key: ArrivalKey): number {
  // Most come last.
  if (isOlder(runs.at(-1)!, key)) return runs.length;
  let [low, high] = [0, runs.length - 1];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isOlder(runs[middle]!, key)) low = middle + 1;
    else high = middle;
  }
  return low;
}
