import type { JsonDocument, JsonLimits } from '../json/read-json.js';
import type { Contract, Fault } from './contract.js';
import { Place } from './document/place.js';
import { Draft } from './draft/draft.js';
import { draftGraph } from './draft/draft-graph.js';
import { readCondition } from './draft/read-condition.js';
import { readRequirement } from './draft/read-requirement.js';
import { readStep } from './draft/read-step.js';
import { readWork } from './draft/read-work.js';
import { RUN_ID } from './names.js';
import { judgeBranches } from './rules/judge-branches.js';
import { judgeConditions } from './rules/judge-conditions.js';
import { judgeLoops } from './rules/judge-loops.js';
import { judgeNeeds } from './rules/judge-needs.js';
import { judgeOutputs } from './rules/judge-outputs.js';
import { judgeRoles } from './rules/judge-roles.js';
import { judgeSchemas } from './rules/judge-schemas.js';
import { judgeUniqueNames } from './rules/judge-unique-names.js';

export type ParsedContract = { ok: true; contract: Contract } | { ok: false; faults: Fault[] };

const KEYS = ['version', 'run_id', 'work', 'requires', 'spread', 'steps', 'success_when'];
const MOST_ROLES = 64;
const MOST_STEPS = 500;

/** A contract is at most 256 KiB as JSON. */
export const CONTRACT_LIMITS: JsonLimits = { bytes: 256 * 1024 };

/**
 * Finds everything that is wrong with what a submitter sent, or nothing: to what is wrong with it as JSON, each part is read by
 * itself; then the references between parts are judged on whatever could be read, so that one mistake is one fault. Never
 * throws, and never changes its input.
 */
export function parseContract({ value, faults, readable }: JsonDocument): ParsedContract {
  if (readable) {
    const draft = readContract(new Place(value, '', faults));
    if (draft !== undefined) judgeReferences(draft);
  }
  return faults.empty ? { ok: true, contract: value as Contract } : { ok: false, faults: faults.list() };
}

function readContract(root: Place): Draft | undefined {
  if (root.closedObject(KEYS, 'A contract is an object with "requires" and "steps".') === undefined) return undefined;
  root.member('version')?.integer(1, 1, '"version" is 1, or left out.');
  root.member('run_id')?.name(RUN_ID);
  const work = root.member('work');
  if (work !== undefined) readWork(work);
  root.member('spread')?.boolean('"spread" is true or false.');

  const rolesRule = `an array of 1 to ${MOST_ROLES} requirements.`;
  const roles = root.required('requires', rolesRule)?.elements(1, MOST_ROLES, `"requires" is ${rolesRule}`);
  const requires = roles?.map((role) => readRequirement(role)).filter((role) => role !== undefined);
  const stepsRule = `an array of 1 to ${MOST_STEPS} steps.`;
  const stepPlaces = root.required('steps', stepsRule)?.elements(1, MOST_STEPS, `"steps" is ${stepsRule}`);
  const steps = stepPlaces?.map(readStep) ?? [];
  const conditions = root
    .member('success_when')
    ?.elements(0, Infinity, '"success_when" is an array of conditions.')
    ?.map(readCondition)
    .filter((condition) => condition !== undefined);

  const allStepsRead = steps.length === lengthOf(root.member('steps'));
  const allRolesRead =
    allStepsRead &&
    requires !== undefined &&
    requires.length === lengthOf(root.member('requires')) &&
    requires.every((requirement) => requirement.as !== undefined) &&
    steps.every((step) => step.acquire === undefined || step.acquire.role !== undefined);
  return new Draft(requires ?? [], allRolesRead, steps, allStepsRead, conditions ?? []);
}

function lengthOf(place: Place | undefined): number | undefined {
  return Array.isArray(place?.value) ? place.value.length : undefined;
}

function judgeReferences(draft: Draft): void {
  const graph = draftGraph(draft);
  judgeUniqueNames(draft);
  judgeNeeds(draft);
  judgeRoles(draft, graph);
  judgeOutputs(draft, graph);
  judgeBranches(draft, graph);
  judgeLoops(draft);
  judgeSchemas(draft);
  judgeConditions(draft);
}
