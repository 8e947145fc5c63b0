import type { Fault } from '../../domain/json/fault-list.js';
import { contractHash } from '../../domain/contract/contract-identity.js';
import { compileOutputSchema, type Judgement } from '../../domain/contract/output-schema.js';
import { CONTRACT_LIMITS, parseContract } from '../../domain/contract/parse-contract.js';
import { type JsonDocument, readJson } from '../../domain/json/read-json.js';
import { unitsFor } from '../../domain/contract/schema/evaluation-meter.js';

/** Something that may take long to judge. */
export type JudgeTask =
  /** The text of a contract. */
  | { kind: 'contract'; text: string }
  | { kind: 'answer'; schema: unknown; value: unknown }
  /** The bytes of an output. */
  | { kind: 'output'; schema: unknown; bytes: Uint8Array };

/** What is wrong with it, or nothing; and the hash of a contract with which nothing is. */
export interface Judged {
  faults: Fault[];
  hash?: string;
}

/** The same wherever it is called: on the event loop or beside it. */
export function judgeTask(task: JudgeTask): Judged {
  if (task.kind === 'contract') return judgeContract(readJson(Buffer.from(task.text), CONTRACT_LIMITS));
  if (task.kind === 'output') return { faults: judgeOutput(task.schema, task.bytes) };
  const size = JSON.stringify(task.value).length;
  return { faults: judgeValue(task.schema, task.value, { allErrors: true, units: unitsFor(size) }).faults };
}

/** What is wrong with what was sent as a contract, or the hash of the contract that it is. */
export function judgeContract(sent: JsonDocument): Judged {
  const parsed = parseContract(sent);
  return parsed.ok ? { faults: [], hash: contractHash(parsed.contract) } : { faults: parsed.faults };
}

function judgeOutput(schema: unknown, bytes: Uint8Array): Fault[] {
  const read = readOutput(bytes);
  if (!read.ok) return [{ pointer: '', detail: read.detail }];
  return judgeValue(schema, read.value, { units: unitsFor(bytes.length) }).faults;
}

/** By a schema of a contract that was accepted. */
export function judgeValue(
  schema: unknown,
  value: unknown,
  options: { allErrors?: boolean; units: number },
): Judgement {
  const compiled = compileOutputSchema(schema, { ...options, accepted: true });
  if (!compiled.ok) throw new Error(`a schema that was accepted does not compile: ${compiled.fault.detail}`);
  return compiled.judge(value);
}

type Read = { ok: true; value: unknown } | { ok: false; detail: string };

/** The JSON that an output is to be. */
export function readOutput(bytes: Uint8Array): Read {
  let text: string;
  try {
    text = utf8.decode(bytes);
  } catch {
    return { ok: false, detail: 'The output must be JSON in UTF-8.' };
  }
  try {
    return { ok: true, value: JSON.parse(text) };
  } catch (error) {
    return { ok: false, detail: `The output must be JSON: ${(error as Error).message}.` };
  }
}

// JSON has no byte order mark; left in, the parser refuses it.
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
