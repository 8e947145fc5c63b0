import type { FaultList } from './fault-list.js';
import { pointerTo } from './pointer.js';
import { isWellFormed } from './well-formed.js';

const MOST_BYTES = 256 * 1024;
const DEEPEST = 100;
const TOO_LARGE = `A contract may be at most ${MOST_BYTES} bytes (256 KiB) of JSON.`;

interface Visit {
  value: unknown;
  key: string | number;
  parent: Visit | undefined;
  depth: number;
}

/**
 * Judges what holds for the whole document, `agent`, `work` and schemas included: it is JSON, within the limits of size and depth,
 * and all its text is well-formed. False: it is no document at all, and nothing more can be said about it.
 *
 * Walks with a list of its own: recursion over a document of 256 KiB may be 130,000 deep. Pointers are only built for faults.
 */
export function judgeJson(document: unknown, faults: FaultList): boolean {
  let readable = true;
  let seen = 0;
  const open: Visit[] = [{ value: document, key: '', parent: undefined, depth: 0 }];
  const fault = (visit: Visit, detail: string): void => faults.add(pointerOf(visit), detail);

  for (let visit = open.pop(); visit !== undefined; visit = open.pop()) {
    const value = visit.value;
    if (typeof value === 'string') {
      if (!isWellFormed(value)) fault(visit, 'Text must be well-formed Unicode without NUL.');
    } else if (typeof value === 'number') {
      if (!Number.isFinite(value)) fault(visit, 'A number must be one that a double can hold.');
    } else if (isContainer(value)) {
      const keys = Array.isArray(value) ? undefined : Object.keys(value);
      seen += keys?.length ?? (value as unknown[]).length;
      if (seen > MOST_BYTES) {
        faults.add('', TOO_LARGE);
        return false;
      }
      if (visit.depth >= DEEPEST) fault(visit, `Objects and arrays may be nested ${DEEPEST} deep at most.`);
      else if (keys === undefined) openElements(visit, value as unknown[], open);
      else if (!openMembers(visit, value as Record<string, unknown>, keys, open)) {
        fault(visit, 'The keys of an object must be well-formed Unicode without NUL; one here is not.');
      }
    } else if (typeof value !== 'boolean' && value !== null) {
      fault(visit, 'A contract consists of JSON values only.');
      readable = false;
    }
  }
  if (faults.empty && Buffer.byteLength(JSON.stringify(document)) > MOST_BYTES) faults.add('', TOO_LARGE);
  return readable;
}

/** Arrays and plain objects of any realm; a Map or a Date is neither. */
function isContainer(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false;
  if (Array.isArray(value)) return true;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

// The last is opened first, so that they are visited, and their faults listed, in the order of the document.
function openElements(parent: Visit, elements: unknown[], open: Visit[]): void {
  for (let key = elements.length - 1; key >= 0; key--) {
    open.push({ value: elements[key], key, parent, depth: parent.depth + 1 });
  }
}

/** What stands below an ill-formed key is not visited: no well-formed pointer leads there. */
function openMembers(parent: Visit, record: Record<string, unknown>, keys: string[], open: Visit[]): boolean {
  let wellFormed = true;
  for (const key of keys.reverse()) {
    if (isWellFormed(key)) open.push({ value: record[key], key, parent, depth: parent.depth + 1 });
    else wellFormed = false;
  }
  return wellFormed;
}

function pointerOf(visit: Visit): string {
  const keys: (string | number)[] = [];
  for (let at = visit; at.parent !== undefined; at = at.parent) keys.push(at.key);
  return keys.reduceRight<string>((pointer, key) => pointerTo(pointer, key), '');
}
