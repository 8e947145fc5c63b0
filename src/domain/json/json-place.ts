import type { FaultList } from './fault-list.js';
import { isWellFormed, pointerTo } from './json-text.js';

/** What a string must be: a test, and the sentence for one that fails it. */
export interface TextRule {
  accepts: (text: string) => boolean;
  says: string;
}

/** A string that other places may refer to, or that refers to another place. */
export interface Name {
  text: string;
  place: JsonPlace;
}

/**
 * A value of the document and where it stands. Each reader answers `undefined` for a value of the wrong shape, and has then
 * noted exactly one fault for it; ill-formed text and numbers beyond a double are left to `readJson`, which has noted them.
 */
export class JsonPlace {
  constructor(
    readonly value: unknown,
    readonly pointer: string,
    readonly faults: FaultList,
  ) {}

  fault(detail: string): undefined {
    this.faults.add(this.pointer, detail);
    return undefined;
  }

  private below(key: string | number, value: unknown): JsonPlace {
    return new JsonPlace(value, pointerTo(this.pointer, key), this.faults);
  }

  private get record(): Record<string, unknown> | undefined {
    const value = this.value;
    const isRecord = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isRecord ? (value as Record<string, unknown>) : undefined;
  }

  get isObject(): boolean {
    return this.record !== undefined;
  }

  /** Own members only: `__proto__` and `constructor` are keys like any other. */
  member(key: string): JsonPlace | undefined {
    const record = this.record;
    return record !== undefined && Object.hasOwn(record, key) ? this.below(key, record[key]) : undefined;
  }

  /** The member, or a fault at the place where it should stand. */
  required(key: string, says: string): JsonPlace | undefined {
    return this.member(key) ?? this.below(key, undefined).fault(`${quotedKey(key)} is required: ${says}`);
  }

  /** Those with a well-formed key: no well-formed pointer leads to the others. */
  members(): { key: string; place: JsonPlace }[] {
    const record = this.record ?? {};
    return Object.keys(record)
      .filter(isWellFormed)
      .map((key) => ({ key, place: this.below(key, record[key]) }));
  }

  object(says: string): this | undefined {
    return this.record === undefined ? this.fault(says) : this;
  }

  /** An object without keys other than these. */
  closedObject(known: readonly string[], says: string): this | undefined {
    if (this.object(says) === undefined) return undefined;
    for (const { key, place } of this.members()) {
      if (!known.includes(key))
        place.fault(`Unknown key; the keys allowed here are ${known.map(quotedKey).join(', ')}.`);
    }
    return this;
  }

  /** The elements up to `most`: what lies beyond the limit is refused as a whole, not element by element. */
  elements(least: number, most: number, says: string): JsonPlace[] | undefined {
    if (!Array.isArray(this.value)) return this.fault(says);
    if (this.value.length < least || this.value.length > most) this.fault(says);
    return this.value.slice(0, most).map((element: unknown, index) => this.below(index, element));
  }

  /** A string, whether or not it keeps the rule: a reference to a badly spelt name still refers to it. */
  name(rule: TextRule): Name | undefined {
    const text = this.value;
    if (typeof text !== 'string') return this.fault(rule.says);
    if (!isWellFormed(text)) return undefined;
    if (!rule.accepts(text)) this.fault(rule.says);
    return { text, place: this };
  }

  integer(least: number, most: number, says: string): number | undefined {
    const value = this.value;
    if (typeof value === 'number' && !Number.isFinite(value)) return undefined;
    if (!Number.isInteger(value)) return this.fault(says);
    // One that a double does not hold has its fault, as JSON.
    if (!Number.isSafeInteger(value) && this.faults.has(this.pointer)) return undefined;
    if (!Number.isSafeInteger(value)) return this.fault(says);
    const integer = value as number;
    return integer < least || integer > most ? this.fault(says) : integer;
  }

  boolean(says: string): boolean | undefined {
    return typeof this.value === 'boolean' ? this.value : this.fault(says);
  }
}

function quotedKey(key: string): string {
  return `"${key}"`;
}
