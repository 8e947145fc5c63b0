import { isOlder, type Place, type QueuedRun } from './queue-line.js';

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
    const place = countOlder(piece, run);
    // One that is full is left so where the run comes behind it, or a queue that only grows would be half empty pieces.
    if (piece.length >= LONGEST && place === piece.length) return void this.#pieces.splice(at + 1, 0, [run]);
    piece.splice(place, 0, run);
    if (piece.length > LONGEST) this.#pieces.splice(at + 1, 0, piece.splice(LONGEST >>> 1));
  }

  /** Takes out the run that stands there; it must. */
  delete(place: Place): void {
    const at = this.#pieceOf(place);
    const piece = this.#pieces[at]!;
    this.#size -= 1;
    piece.splice(countOlder(piece, place), 1);
    if (piece.length === 0) this.#pieces.splice(at, 1);
  }

  /** How many are older. */
  countBefore(place: Place): number {
    const at = this.#pieceOf(place);
    if (at < 0) return 0;
    let count = countOlder(this.#pieces[at]!, place);
    for (let before = 0; before < at; before++) count += this.#pieces[before]!.length;
    return count;
  }

  /** From the one that stands there, or the first behind it, on. */
  *from(place: Place): Generator<QueuedRun, void, undefined> {
    const first = Math.max(0, this.#pieceOf(place));
    for (let at = first; at < this.#pieces.length; at++) {
      const piece = this.#pieces[at]!;
      for (let index = at === first ? countOlder(piece, place) : 0; index < piece.length; index++) yield piece[index]!;
    }
  }

  /** The oldest of those that are newer. */
  next(place: Place): QueuedRun | undefined {
    for (const run of this.from(place)) if (isOlder(place, run)) return run;
    return undefined;
  }

  /** The last piece that begins no later than there; -1: all of them begin later. */
  #pieceOf(place: Place): number {
    let [low, high] = [0, this.#pieces.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (isOlder(place, this.#pieces[middle]![0]!)) high = middle;
      else low = middle + 1;
    }
    return low - 1;
  }
}

function countOlder(runs: readonly QueuedRun[], place: Place): number {
  // Most come last.
  if (isOlder(runs.at(-1)!, place)) return runs.length;
  let [low, high] = [0, runs.length - 1];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isOlder(runs[middle]!, place)) low = middle + 1;
    else high = middle;
  }
  return low;
}
