import type { Fault } from '../contract.js';

const MOST_FAULTS = 500;

// A pointer repeats the keys above it, so 500 faults below one long key could make an answer of 100 MB out of 256 KiB.
const MOST_TEXT = 256 * 1024;

/** The faults found so far. Past its bounds it only remembers that there are more. */
export class FaultList {
  private readonly faults: Fault[] = [];
  private text = 0;
  private more = false;

  add(pointer: string, detail: string): void {
    if (this.more || this.faults.length >= MOST_FAULTS || this.text >= MOST_TEXT) {
      this.more = true;
      return;
    }
    this.text += pointer.length + detail.length;
    this.faults.push({ pointer, detail });
  }

  get empty(): boolean {
    return this.faults.length === 0;
  }

  /** Whether the place, or something inside it, is already known to be wrong; true once faults are no longer kept. */
  has(pointer: string): boolean {
    const inside = `${pointer}/`;
    return this.more || this.faults.some((fault) => fault.pointer === pointer || fault.pointer.startsWith(inside));
  }

  list(): Fault[] {
    if (!this.more) return [...this.faults];
    const detail = `There are more faults than the ${this.faults.length} listed; mend these and submit again.`;
    return [...this.faults, { pointer: '', detail }];
  }
}
