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
