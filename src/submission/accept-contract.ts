import { v7 as uuidv7 } from 'uuid';
import { contractHash } from '../domain/contract/contract-hash.js';
import { RUN_ID } from '../domain/contract/names.js';
import { parseContract } from '../domain/contract/parse-contract.js';
import { signatureOf } from '../domain/contract/signature.js';
import { workIdOf } from '../domain/contract/work-id.js';
import type { JsonDocument } from '../domain/json/read-json.js';
import type { Fault } from '../domain/contract/contract.js';
import { Problem } from '../platform/http/problem.js';
import type { NewRun } from './insert-run.sql.js';

/**
 * Takes the body of a submission as a contract, or refuses it with every fault. The run's id is the contract's, else the
 * Idempotency-Key, else a new UUIDv7 (which sorts by time).
 */
export function acceptContract(body: JsonDocument | undefined, principal: string, given: string | undefined): NewRun {
  if (body === undefined) throw invalid([{ pointer: '', detail: 'The body is empty; send the contract as JSON.' }]);
  const parsed = parseContract(body);
  if (!parsed.ok) throw invalid(parsed.faults);
  const { contract } = parsed;
  const idempotencyKey = given && idempotencyKeyOf(given);
  if (idempotencyKey !== undefined && !RUN_ID.accepts(idempotencyKey)) {
    throw new Problem('invalid_request', `Idempotency-Key is taken as the run id. ${RUN_ID.says}`);
  }
  return {
    run_id: contract.run_id ?? idempotencyKey ?? uuidv7(),
    principal,
    contract,
    text: body.text,
    contract_hash: contractHash(contract),
    signature: signatureOf(contract.requires, contract.spread),
    alone: contract.steps.some(({ acquire, ask }) => acquire !== undefined || ask !== undefined),
    work_id: workIdOf(contract),
  };
}

/** A structured field is a string in quotes (draft-ietf-httpapi-idempotency-key-header), and many send the bare word: the same key. */
function idempotencyKeyOf(given: string): string {
  const quoted = /^ *"((?:[^"\\]|\\["\\])*)" *$/.exec(given)?.[1];
  return quoted === undefined ? given : quoted.replace(/\\(.)/g, '$1');
}

const MOST_FAULTS = 100;

function invalid(errors: Fault[]): Problem {
  const [first] = errors;
  const detail =
    errors.length === 1
      ? `${first!.pointer || 'the contract'}: ${first!.detail}`
      : `the contract has ${errors.length < MOST_FAULTS ? errors.length : `at least ${MOST_FAULTS - 1}`} faults; see errors`;
  return new Problem('invalid_contract', detail, { errors });
}
