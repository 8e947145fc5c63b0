import type { Fault } from '../../domain/contract/contract.js';
import type { FaultList } from '../../domain/contract/document/fault-list.js';
import { Problem } from './problem.js';

const NAMED = 3;

/** Throws invalid_request with every fault of a body; nothing where it has none. */
export function refuseFaults(faults: FaultList, what = 'the body'): void {
  if (!faults.empty) throw faulty(faults.list(), what);
}

/** invalid_request for faults of a body or a query: the first are said in the sentence, all are listed. */
export function faulty(faults: readonly Fault[], what: string): Problem {
  const named = faults.slice(0, NAMED).map(({ pointer, detail }) => said(pointer || what, detail));
  const more = faults.length > NAMED ? `; and more, see errors` : '';
  return new Problem('invalid_request', named.join('; ') + more || `${what} is not valid`, { errors: [...faults] });
}

/** What is wrong is told of the place as its subject ("must be …"), or in a sentence of its own. */
function said(place: string, detail: string): string {
  return /^[A-Z]/.test(detail) ? `${place}: ${detail.replace(/\.$/, '')}` : `${place} ${detail}`;
}
