import { dispatchSource, valueAlong } from '../contract/dispatch-source.js';
import type { StepSpec } from '../contract/contract.js';

/** A choice that cannot be read, or is none of those that are offered: it fails the step, with this sentence. */
export class BadChoice extends Error {}

/** The largest output that a choice is read from: it is parsed while the run is locked. */
export const CHOICE_BYTES = 1024 * 1024;

/** The output that a dispatch reads its choice from. */
export function choiceOutput({ dispatch, out = [] }: StepSpec): string {
  return sourceOf(dispatch!.from, out).out;
}

/** The step that a dispatch chooses: a string in the JSON of its output, along the fields, one of those it names. */
export function readChoice({ dispatch, out = [] }: StepSpec, output: string | null | undefined): string {
  const { from, to } = dispatch!;
  if (output === undefined) throw new BadChoice(`the choice ${from} was not uploaded`);
  if (output === null)
    throw new BadChoice(`the choice ${from} cannot be read: its output is over ${CHOICE_BYTES} bytes`);
  let value: unknown;
  try {
    value = JSON.parse(output);
  } catch {
    throw new BadChoice(`the choice ${from} cannot be read: the output is not JSON`);
  }
  const choice = valueAlong(sourceOf(from, out).fields, value);
  if (typeof choice === 'string' && to.includes(choice)) return choice;
  throw new BadChoice(`the choice ${from} is ${shown(choice)}; it must be one of ${to.join(', ')}`);
}

/** Cut by code point: half of a surrogate pair is no text that the database takes. */
function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing';
  return [...text.slice(0, 200)].slice(0, 100).join('');
}

function sourceOf(from: string, outs: string[]): { out: string; fields: string[] } {
  const source = dispatchSource(from, outs);
  if (source === undefined) throw new Error(`${from} names no output of its step`);
  return source;
}
