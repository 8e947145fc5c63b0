import { v7 as uuidv7 } from 'uuid';
import type { Contract } from '../domain/contract/contract.js';
import { signatureOf, workIdOf } from '../domain/contract/contract-identity.js';
import type { NewRun } from './insert-run.sql.js';

/** What came with a contract, or was derived from it. */
interface Sent {
  /** The contract as it was sent. */
  text: string;
  hash: string;
  principal: string;
  idempotencyKey?: string;
}

/** The run of a contract that is valid. */
export function newRunOf(contract: Contract, { text, hash, principal, idempotencyKey }: Sent): NewRun {
  return {
    run_id: contract.run_id ?? idempotencyKey ?? uuidv7(),
    principal,
    contract,
    text,
    contract_hash: hash,
    signature: signatureOf(contract.requires, contract.spread),
    serverSteps: contract.steps.some(({ acquire, ask }) => acquire !== undefined || ask !== undefined),
    work_id: workIdOf(contract),
  };
}
