import { createScanner } from 'jsonc-parser';
import { FaultList } from './fault-list.js';
import { isWellFormed, judgeNumber, pointerTo } from './json-text.js';

export interface JsonLimits {
  bytes: number;
  /** How many members and elements at all levels; no limit but the bytes where it is absent. */
  values?: number;
  /** Members of the outermost object whose ill-formed text is repaired and not refused. */
  mended?: readonly string[];
}

/** A text that was read as JSON. What a JavaScript object does not keep, the order of its keys and its digits, is in the text. */
export interface JsonDocument {
  text: string;
  value: unknown;
  /** What JSON allows and this API does not: whoever reads the value on adds to it. */
  faults: FaultList;
  /** False: of the value nothing more can be said than the faults do. */
  readable: boolean;
}

/** What is no JSON at all; the message is a sentence about it. */
export class NotJson extends Error {}

export const DEEPEST = 100;

/** An object or array that is being read. */
interface Level {
  /** The member or element that is read now; undefined below a key that no well-formed pointer can name. */
  at: string | number | undefined;
  /** Of an object; most have few keys, and many none. */
  keys: string[] | Set<string> | undefined;
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Reads bytes as JSON, which is taken as it is written: what two readers would understand differently is a fault (a key given
 * twice, a number that a double does not hold), and so is text that cannot be stored. One pass over the text after that of the
 * JavaScript engine, which knows whether it is JSON; neither recurses, and both take time in proportion to the bytes.
 */
export function readJson(bytes: Uint8Array, limits: JsonLimits): JsonDocument {
  const faults = new FaultList();
  if (bytes.length > limits.bytes) {
    faults.add('', `The JSON may be at most ${limits.bytes} bytes (${limits.bytes / 1024} KiB).`);
    return { text: '', value: undefined, faults, readable: false };
  }
  const text = decode(bytes);
  const value = parse(text);
  const readable = judge(text, limits, faults);
  if (readable) mend(value, limits.mended ?? []);
  return { text, value, faults, readable };
}

function decode(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes);
  } catch (error) {
    throw new NotJson('it must be UTF-8', { cause: error });
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new NotJson(`it must be JSON: ${(error as Error).message}`, { cause: error });
  }
}

/** Judges a text that is known to be JSON. False: there is so much in it that the rest was not looked at. */
function judge(text: string, { values: most = Infinity, mended = [] }: JsonLimits, faults: FaultList): boolean {
  const scanner = createScanner(text, true);
  const open: Level[] = [];
  /** Levels beyond the deepest: the first of them is a fault, and nothing inside it is looked at. */
  let beyond = 0;
  let values = 0;
  let key = false;

  for (scanner.scan(); scanner.getTokenOffset() < text.length; scanner.scan()) {
    const first = text[scanner.getTokenOffset()]!;
    const level = open.at(-1);
    if (!key && !',:}]'.includes(first)) values += 1;
    if (values > most) {
      faults.add('', `There may be at most ${most} members and elements, at all levels together.`);
      return false;
    }
    switch (first) {
      case '{':
      case '[':
        if (beyond > 0 || open.length >= DEEPEST) {
          if (beyond === 0) faultAt(open, faults, `Objects and arrays may be nested ${DEEPEST} deep at most.`);
          beyond += 1;
        } else {
          open.push(first === '{' ? { at: undefined, keys: [] } : { at: 0, keys: undefined });
        }
        key = first === '{';
        break;
      case '}':
      case ']':
        if (beyond > 0) beyond -= 1;
        else open.pop();
        key = false;
        break;
      case ',':
        if (beyond > 0) break;
        if (level!.keys === undefined) level!.at = (level!.at as number) + 1;
        key = level!.keys !== undefined;
        break;
      case ':':
        key = false;
        break;
      case '"':
        if (beyond > 0) break;
        if (key) readKey(scanner.getTokenValue(), open, faults);
        // Only an escape can be ill-formed: the bytes were UTF-8, and JSON has no NUL.
        else if (scanner.getTokenLength() !== scanner.getTokenValue().length + 2) {
          const isMended = open.length === 1 && mended.includes(String(level!.at));
          if (!isMended && !isWellFormed(scanner.getTokenValue())) {
            faultAt(open, faults, 'Text must be well-formed Unicode without NUL.');
          }
        }
        break;
      default: {
        const fault = beyond > 0 || /[tfn]/.test(first) ? undefined : judgeNumber(scanner.getTokenValue());
        if (fault !== undefined) faultAt(open, faults, fault);
      }
    }
  }
  return true;
}

function readKey(name: string, open: Level[], faults: FaultList): void {
  const level = open.at(-1)!;
  if (!isWellFormed(name)) {
    level.at = undefined;
    faultAt(
      open.slice(0, -1),
      faults,
      'The keys of an object must be well-formed Unicode without NUL; one here is not.',
    );
    return;
  }
  level.at = name;
  if (!isNew(level, name)) faultAt(open, faults, 'This key is given twice; a key is given once in an object.');
}

const FEW_KEYS = 8;

/** Notes the key. */
function isNew(level: Level, name: string): boolean {
  if (level.keys instanceof Set) return level.keys.size < level.keys.add(name).size;
  const keys = level.keys!;
  if (keys.includes(name)) return false;
  if (keys.push(name) > FEW_KEYS) level.keys = new Set(keys);
  return true;
}

/** Below an ill-formed key nothing is noted: the fault of the key says enough, and no well-formed pointer leads there. */
function faultAt(open: readonly Level[], faults: FaultList, detail: string): void {
  if (faults.full || open.some(({ at }) => at === undefined)) return;
  faults.add(
    open.reduce((pointer, { at }) => pointerTo(pointer, at!), ''),
    detail,
  );
}

function mend(value: unknown, names: readonly string[]): void {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return;
  const members = value as Record<string, unknown>;
  for (const name of names) {
    const text = Object.hasOwn(members, name) ? members[name] : undefined;
    if (typeof text === 'string') members[name] = text.replace(/\0|\p{Surrogate}/gu, '\ufffd');
  }
}
