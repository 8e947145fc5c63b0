import type { Contract, Fault, StepSpec } from './contract.js';

const FIELDS = [
  'acquire',
  'ask',
  'in',
  'out',
  'schema',
  'timeout_seconds',
  'release',
  'dispatch',
  'loop',
] as const satisfies (keyof StepSpec)[];

/** What a valid contract asks for that the executing side cannot do yet. Better refused than accepted and not done. */
export function unsupportedFaults(contract: Contract): Fault[] {
  const steps = contract.steps.flatMap((step, index) =>
    FIELDS.filter((field) => step[field] !== undefined).map((field) => fault(`/steps/${index}/${field}`, field)),
  );
  const conditions = (contract.success_when ?? []).flatMap((condition, index) =>
    condition.produced === undefined ? [] : [fault(`/success_when/${index}/produced`, 'produced')],
  );
  return [...steps, ...conditions];
}

function fault(pointer: string, field: string): Fault {
  return { pointer, detail: `"${field}" is valid but this version does not run it yet.` };
}
