/** One thing that is wrong with what was sent: where (a JSON pointer, RFC 6901) and a sentence that says what would be right. */
export interface Fault {
  pointer: string;
  detail: string;
}

const MOST_FAULTS = 100;

/** Of the faults as JSON, so that a refusal stays under 64 KiB whatever was sent: a pointer repeats the keys above it. */
const MOST_BYTES = 40 * 1024;

const LONGEST_POINTER = 1_000;
const LONGEST_DETAIL = 1_000;

/** The faults found so far. Past its bounds it only remembers that there are more. */
export class FaultList {
  private readonly faults: Fault[] = [];
  private bytes = 0;
  private more = false;

  add(pointer: string, detail: string): void {
    if (this.more) return;
    const bytes = Buffer.byteLength(JSON.stringify(shortened({ pointer, detail })));
    if (this.faults.length >= MOST_FAULTS || this.bytes + bytes > MOST_BYTES) {
      this.more = true;
      return;
    }
    this.bytes += bytes;
    this.faults.push({ pointer, detail });
  }

  get empty(): boolean {
    return this.faults.length === 0 && !this.more;
  }

  /** What is found from now on is not kept: its place need not be spelt out. */
  get full(): boolean {
    return this.more;
  }

  /** Whether the place, or something inside it, is already known to be wrong; true once faults are no longer kept. */
  has(pointer: string): boolean {
    const inside = `${pointer}/`;
    return this.more || this.faults.some((fault) => fault.pointer === pointer || fault.pointer.startsWith(inside));
  }

  /** At most 100; where there are more, the last of them says so. */
  list(): Fault[] {
    const listed = this.faults.map(shortened);
    if (!this.more) return listed;
    const shown = listed.slice(0, MOST_FAULTS - 1);
    const detail = `There are more faults than the ${shown.length} listed; fix these and send it again.`;
    return [...shown, { pointer: '', detail }];
  }
}

/** As many of these faults as a refusal lists. */
export function listable(faults: readonly Fault[]): Fault[] {
  const list = new FaultList();
  for (const { pointer, detail } of faults) list.add(pointer, detail);
  return list.list();
}

/** A place below a key that is too long to be repeated is named by what it stands in. */
function shortened({ pointer, detail }: Fault): Fault {
  if (pointer.length <= LONGEST_POINTER) return { pointer, detail: cut(detail) };
  const above = pointer.slice(0, pointer.lastIndexOf('/', LONGEST_POINTER));
  return { pointer: above, detail: cut(`Below here, under keys that are too long to repeat: ${detail}`) };
}

/** By code point: half of a surrogate pair is no text. */
function cut(detail: string): string {
  if (detail.length <= LONGEST_DETAIL) return detail;
  return `${[...detail.slice(0, LONGEST_DETAIL)].slice(0, LONGEST_DETAIL - 1).join('')}….`;
}
