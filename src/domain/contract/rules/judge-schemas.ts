import type { Draft, StepDraft } from '../draft/draft.js';
import type { Name, Place } from '../document/place.js';
import { quoted } from '../document/quoted.js';
import { ContractSchemas } from './contract-schemas.js';
import { judgeDefault } from './judge-default.js';

export function judgeSchemas(draft: Draft): void {
  const schemas = new ContractSchemas();
  for (const step of draft.steps) {
    if (step.schema !== undefined) judgeSchemaNames(step, step.schema, schemas);
    if (step.kind !== 'ask') continue;
    judgeAnswer(step);
    judgeDefault(step, schemas);
  }
}

function judgeSchemaNames(step: StepDraft, schemas: Place, known: ContractSchemas): void {
  const outs = new Set(step.out.all.map((name) => name.text));
  const declared = step.place.member('out') !== undefined;
  if (!declared && step.kind !== 'ask') schemas.fault('"schema" describes the outputs in "out"; add "out".');
  for (const { key, place } of schemas.members()) {
    if (declared && step.out.whole && !outs.has(key)) {
      place.fault(`A schema is for an output of this step; ${quoted(key)} is not in its "out".`);
      continue;
    }
    // Text or nesting that was refused above would be refused here a second time, in other words.
    const fault = place.faults.has(place.pointer) ? undefined : known.faultOf(place.value);
    if (fault !== undefined) place.faults.add(place.pointer + fault.pointer, fault.detail);
  }
}

/** An answer is typed into a form, and a form is drawn from an object. */
function judgeAnswer(step: StepDraft): void {
  const name = judgeOnlyOutput(step);
  const schemas = step.place.required('schema', 'an answer needs a schema.');
  if (name === undefined || schemas?.isObject !== true) return;
  const schema = schemas.required(name.text, 'an answer needs a schema.');
  if (schema === undefined || schema.faults.has(schema.pointer)) return;
  const type = schema.member('type');
  if (type?.value === 'object') return;
  (type ?? schema).fault(
    'The schema of an answer must describe an object ("type": "object"), so that a form can be drawn from it.',
  );
}

function judgeOnlyOutput(step: StepDraft): Name | undefined {
  const out = step.place.required('out', 'a question has exactly one output, its answer.');
  if (out === undefined || !step.out.whole) return undefined;
  return step.out.all.length === 1 ? step.out.all[0] : out.fault('A question has exactly one output, its answer.');
}
