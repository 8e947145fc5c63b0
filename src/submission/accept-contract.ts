import { Injectable } from '@nestjs/common';
import type { Contract } from '../domain/contract/contract.js';
import type { Fault } from '../domain/json/fault-list.js';
import { RUN_ID } from '../domain/contract/names.js';
import type { JsonDocument } from '../domain/json/read-json.js';
import { Problem } from '../platform/http/problem.js';
import { Judging } from '../platform/judging/judging.js';
import type { NewRun } from './insert-run.sql.js';
import { newRunOf } from './new-run.js';

/** Takes the body of a submission as a contract, or refuses it with every fault. */
@Injectable()
export class AcceptContract {
  constructor(private readonly judging: Judging) {}

  /** The run's id is the contract's, else the Idempotency-Key, else a new UUIDv7 (which sorts by time). */
  async accept(body: JsonDocument | undefined, principal: string, given: string | undefined): Promise<NewRun> {
    if (body === undefined) throw invalid([{ pointer: '', detail: 'The body is empty; send the contract as JSON.' }]);
    const { faults, hash } = await this.judging.contract(principal, body);
    if (hash === undefined) throw invalid(faults);
    const idempotencyKey = given && idempotencyKeyOf(given);
    if (idempotencyKey !== undefined && !RUN_ID.accepts(idempotencyKey)) {
      throw new Problem('invalid_request', `Idempotency-Key becomes the run id. ${RUN_ID.says}`);
    }
    return newRunOf(body.value as Contract, { text: body.text, hash, principal, idempotencyKey });
  }
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
