import type { Fault } from '../json/fault-list.js';
import { JsonPlace } from '../json/json-place.js';
import type { JsonDocument, JsonLimits } from '../json/read-json.js';
import { CONTRACT, type Contract } from './contract.js';
import { Draft, draftGraph } from './draft.js';

import { judgeBranches } from './rules/judge-branches.js';
import { judgeLoops } from './rules/judge-loops.js';
import { judgeNeeds, judgeNames } from './rules/judge-names.js';
import { judgeOutputs } from './rules/judge-outputs.js';
import { judgeRoles } from './rules/judge-roles.js';
import { judgeSchemas } from './rules/judge-schemas.js';
import { judgeConditions } from './rules/judge-conditions.js';

export type ParsedContract = { ok: true; contract: Contract } | { ok: false; faults: Fault[] };

/** A contract is at most 256 KiB as JSON. */
export const CONTRACT_LIMITS: JsonLimits = { bytes: 256 * 1024 };

/**
 * Finds everything that is wrong with what a submitter sent, or nothing: to what is wrong with it as JSON, each part is read
 * by itself, as it is declared; then the rules judge the references between parts on whatever could be read, so that one
 * mistake is one fault. Never throws, and never changes its input.
 */
export function parseContract({ value, faults, readable }: JsonDocument): ParsedContract {
  if (readable) {
    const draft = CONTRACT.read(new JsonPlace(value, '', faults));
    if (draft !== undefined) judgeReferences(new Draft(draft));
  }
  return faults.empty ? { ok: true, contract: value as Contract } : { ok: false, faults: faults.list() };
}

function judgeReferences(draft: Draft): void {
  const graph = draftGraph(draft);
  judgeNames(draft);
  judgeNeeds(draft);
  judgeRoles(draft, graph);
  judgeOutputs(draft, graph);
  judgeBranches(draft, graph);
  judgeLoops(draft);
  judgeSchemas(draft);
  judgeConditions(draft);
}
