import type { Draft, StepDraft } from '../draft/draft.js';
import type { Name, Place } from '../document/place.js';
import { quoted } from '../document/quoted.js';
import type { Fault } from '../contract.js';
import { countValues } from '../schema/count-values.js';
import { LinearPatterns } from '../schema/linear-patterns.js';
import { compileOutputSchema } from '../output-schema.js';

/** A schema takes half a millisecond to compile, even an empty one, and 256 KiB hold 25,000 of those. */
const MOST_SCHEMAS = 250;

/**
 * Bytes bound nothing: 32 KiB of nested `oneOf` took seven seconds to compile, since what it takes grows with the square of
 * the subschemas that stand beside each other. With these bounds the worst contract known takes 0.25 s, and a schema may still
 * describe 250 properties.
 */
const MOST_VALUES = 1_000;
const MOST_VALUES_IN_ALL = 1_500;

export function judgeSchemas(draft: Draft): void {
  const faultOf = schemaJudge();
  for (const step of draft.steps) {
    if (step.schema !== undefined) judgeSchemaNames(step, step.schema, faultOf);
    if (step.kind === 'ask') judgeAnswer(step);
  }
}

type SchemaJudge = (schema: unknown) => Fault | undefined;

function judgeSchemaNames(step: StepDraft, schemas: Place, faultOf: SchemaJudge): void {
  const outs = new Set(step.out.all.map((name) => name.text));
  const declared = step.place.member('out') !== undefined;
  if (!declared && step.kind !== 'ask') schemas.fault('"schema" stands beside the "out" it is about; add "out".');
  for (const { key, place } of schemas.members()) {
    if (declared && step.out.whole && !outs.has(key)) {
      place.fault(`A schema is for an output of this step; ${quoted(key)} is not in its "out".`);
      continue;
    }
    // Text or nesting that was refused above would be refused here a second time, in other words.
    const fault = place.faults.has(place.pointer) ? undefined : faultOf(place.value);
    if (fault !== undefined) place.faults.add(place.pointer + fault.pointer, fault.detail);
  }
}

/** Equal schemas are compiled once, and all draw on one allowance for values and one for patterns. */
function schemaJudge(): SchemaJudge {
  const known = new Map<string, Fault | undefined>();
  const patterns = new LinearPatterns();
  let values = 0;
  const judge: SchemaJudge = (schema) => {
    if (known.size >= MOST_SCHEMAS) return whole(`A contract has at most ${MOST_SCHEMAS} different schemas.`);
    const own = countValues(schema);
    if (own > MOST_VALUES) return whole(`A schema has at most ${MOST_VALUES} ${COUNTED}; this one has ${own}.`);
    if (values + own > MOST_VALUES_IN_ALL) {
      return whole(`The schemas of a contract have at most ${MOST_VALUES_IN_ALL} ${COUNTED}; this one is too much.`);
    }
    values += own;
    const compiled = compileOutputSchema(schema, { patterns });
    return compiled.ok ? undefined : compiled.fault;
  };
  return (schema) => {
    const text = JSON.stringify(schema);
    if (!known.has(text)) known.set(text, judge(schema));
    return known.get(text);
  };
}

const COUNTED = 'keywords, names and values together, counted at every level';

function whole(detail: string): Fault {
  return { pointer: '', detail };
}

/** An answer is typed into a form, and a form is drawn from an object. */
function judgeAnswer(step: StepDraft): void {
  const name = judgeOnlyOutput(step);
  const schemas = step.place.required('schema', 'the answer takes a schema.');
  if (name === undefined || schemas?.isObject !== true) return;
  const schema = schemas.required(name.text, 'the answer takes a schema.');
  if (schema === undefined || schema.faults.has(schema.pointer)) return;
  const type = schema.member('type');
  if (type?.value === 'object') return;
  (type ?? schema).fault('The schema of an answer is of an object, so that a form can be drawn: "type": "object".');
}

function judgeOnlyOutput(step: StepDraft): Name | undefined {
  const out = step.place.required('out', 'a question has exactly one output, its answer.');
  if (out === undefined || !step.out.whole) return undefined;
  return step.out.all.length === 1 ? step.out.all[0] : out.fault('A question has exactly one output, its answer.');
}
