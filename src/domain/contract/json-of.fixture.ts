import { Buffer } from 'node:buffer';
import { type JsonDocument, readJson } from '../json/read-json.js';
import { CONTRACT_LIMITS, type ParsedContract, parseContract } from './parse-contract.js';

/** The value as it is read once it was sent. Texts are sent as they are. */
export function jsonOf(value: unknown, text = JSON.stringify(value)): JsonDocument {
  return readJson(Buffer.from(text), CONTRACT_LIMITS);
}

/** The value, sent as a contract and parsed. */
export function parseValue(value: unknown): ParsedContract {
  return parseContract(jsonOf(value));
}

/** Where something stands in a value: the keys that lead there. */
export function pathsOf(value: unknown, above: string[] = []): string[][] {
  if (typeof value !== 'object' || value === null) return [above];
  return [above, ...Object.entries(value).flatMap(([key, member]) => pathsOf(member, [...above, key]))];
}

/** A copy of a value, with another at one place. */
export function replaced(document: unknown, path: string[], value: unknown): unknown {
  const [key, ...rest] = path;
  if (key === undefined) return value;
  const copy = copyOf(document);
  copy[key] = replaced(copy[key], rest, value);
  return copy;
}

function copyOf(document: unknown): Record<string, unknown> {
  return JSON.parse(JSON.stringify(document)) as Record<string, unknown>;
}
