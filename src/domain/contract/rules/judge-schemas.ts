import type { JsonPlace } from '../../json/json-place.js';
import { quoted } from '../../json/json-text.js';
import { dispatchSource, valueAlong } from '../dispatch-source.js';
import type { Draft, StepDraft } from '../draft.js';
import { ContractSchemas } from './contract-schemas.js';

/** `schema`: each is one, and of an output; what a question asks for is an object, and its default satisfies it. */
export function judgeSchemas(draft: Draft): void {
  const schemas = new ContractSchemas();
  for (const step of draft.steps) {
    if (step.schema !== undefined) judgeSchemaNames(step, step.schema, schemas);
    if (step.kind !== 'ask') continue;
    judgeAnswer(step);
    judgeDefault(step, schemas);
  }
}

function judgeSchemaNames(step: StepDraft, schemas: JsonPlace, known: ContractSchemas): void {
  const outs = new Set(step.out.all.map((name) => name.text));
  for (const { key, place } of schemas.members()) {
    if (step.out.given && step.out.whole && !outs.has(key)) {
      place.fault(`A schema is for an output of this step; ${quoted(key)} is not in its "out".`);
      continue;
    }
    // Text or nesting that was refused above would be refused here a second time, in other words.
    const fault = place.faults.has(place.pointer) ? undefined : known.faultOf(place.value);
    if (fault !== undefined) place.faults.add(place.pointer + fault.pointer, fault.detail);
  }
}

/** An answer is typed into a form, and a form is drawn from an object. */
function judgeAnswer({ out, schema: schemas }: StepDraft): void {
  const [name] = out.all;
  if (!out.whole || name === undefined || schemas === undefined) return;
  const schema = schemas.required(name.text, 'an answer needs a schema.');
  if (schema === undefined || schema.faults.has(schema.pointer)) return;
  const type = schema.member('type');
  if (type?.value === 'object') return;
  (type ?? schema).fault(
    'The schema of an answer must describe an object ("type": "object"), so that a form can be drawn from it.',
  );
}

/** The answer that is taken when nobody gave one: it fits the schema, and chooses one of the branches. */
function judgeDefault(step: StepDraft, schemas: ContractSchemas): void {
  const given = step.ask?.default;
  const [output] = step.out.all;
  if (given === undefined || given.faults.has(given.pointer) || output === undefined) return;
  const schema = step.schema?.member(output.text);
  if (schema !== undefined && !schema.faults.has(schema.pointer)) {
    for (const { pointer, detail } of schemas.faultsIn(given.value, schema.value)) {
      given.faults.add(given.pointer + pointer, detail);
    }
  }
  judgeChoice(step, given);
}

function judgeChoice({ dispatch, out }: StepDraft, given: JsonPlace): void {
  if (dispatch?.from === undefined || !dispatch.to.whole || !out.whole) return;
  const source = dispatchSource(
    dispatch.from.text,
    out.all.map(({ text }) => text),
  );
  if (source === undefined) return;
  const choice = valueAlong(source.fields, given.value);
  if (dispatch.to.all.some(({ text }) => text === choice)) return;
  const shown = typeof choice === 'string' ? `not ${quoted(choice)}` : 'as text';
  given.fault(
    `The default must make the choice of the "dispatch": at ${quoted(dispatch.from.text)} it names one of "to", ${shown}.`,
  );
}
