import { dispatchSource, valueAlong } from '../dispatch-source.js';
import type { Place } from '../document/place.js';
import { quoted } from '../document/quoted.js';
import type { StepDraft } from '../draft/draft.js';
import type { ContractSchemas } from './contract-schemas.js';

/** The answer that is taken when nobody gave one: it fits the schema, and chooses one of the branches. */
export function judgeDefault(step: StepDraft, schemas: ContractSchemas): void {
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

function judgeChoice({ dispatch, out }: StepDraft, given: Place): void {
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
