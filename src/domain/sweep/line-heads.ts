import { isOlder, type QueueLine } from './queue-line.js';

/** The heads of many lines, oldest first: a binary heap. */
export class LineHeads {
  readonly #heap: QueueLine[] = [];

  constructor(lines: Iterable<QueueLine>) {
    for (const line of lines) this.add(line);
  }

  /** Takes out the line whose head is the oldest of all. */
  take(): QueueLine | undefined {
    const oldest = this.#heap[0];
    const last = this.#heap.pop();
    if (oldest === undefined || last === oldest) return oldest;
    this.#heap[0] = last!;
    this.#sink(0);
    return oldest;
  }

  add(line: QueueLine): void {
    let at = this.#heap.push(line) - 1;
    while (at > 0) {
      const above = (at - 1) >>> 1;
      if (!this.#isBefore(at, above)) return;
      this.#swap(at, above);
      at = above;
    }
  }

  #sink(from: number): void {
    for (let at = from; ;) {
      const [left, right] = [2 * at + 1, 2 * at + 2];
      let oldest = at;
      if (left < this.#heap.length && this.#isBefore(left, oldest)) oldest = left;
      if (right < this.#heap.length && this.#isBefore(right, oldest)) oldest = right;
      if (oldest === at) return;
      this.#swap(at, oldest);
      at = oldest;
    }
  }

  #isBefore(a: number, b: number): boolean {
    return isOlder(this.#heap[a]!.head, this.#heap[b]!.head);
  }

  #swap(a: number, b: number): void {
    [this.#heap[a], this.#heap[b]] = [this.#heap[b]!, this.#heap[a]!];
  }
}
