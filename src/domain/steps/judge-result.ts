import type { StepSpec } from '../contract/contract.js';
import { dispatchSource, valueAlong } from '../contract/dispatch-source.js';

/** What a node reports of a step. */
export interface ReportedResult {
  exit_code?: number;
  produced?: string[];
  error?: string;
}

/** What the step comes to. `error` says why it FAILED, unless the report says so itself or the exit code does. */
export type Judgement = { kind: 'done' } | { kind: 'failed'; error?: string } | { kind: 'again' };

/**
 * Judges a report, in this order: an error fails the step. A loop whose `until` does not hold goes round again while
 * attempts are left, whatever the exit code. A name in `produced`, promised or not, and a promised output that was not
 * uploaded in this attempt fail it, and so does an exit code other than 0 unless the contract allows it.
 */
export function judgeResult(
  report: ReportedResult,
  spec: StepSpec,
  attempt: number,
  uploaded: ReadonlySet<string>,
): Judgement {
  if (report.error !== undefined) return { kind: 'failed' };
  if (spec.loop && attempt < spec.loop.max && !untilHolds(spec.loop.until, report, uploaded)) return { kind: 'again' };
  const missing = [...new Set([...(spec.out ?? []), ...(report.produced ?? [])])].filter((name) => !uploaded.has(name));
  if (missing.length > 0) return { kind: 'failed', error: `not uploaded in this attempt: ${listed(missing)}` };
  const failed = (report.exit_code ?? 0) !== 0 && spec.allow_failure !== true;
  return failed ? { kind: 'failed' } : { kind: 'done' };
}

type Until = NonNullable<StepSpec['loop']>['until'];

function untilHolds(until: Until, report: ReportedResult, uploaded: ReadonlySet<string>): boolean {
  if (until.exit_code !== undefined && report.exit_code !== until.exit_code) return false;
  return (until.produced ?? []).every((name) => uploaded.has(name));
}

function listed(names: string[]): string {
  const shown = names.slice(0, 20).join(', ');
  return names.length > 20 ? `${shown} and ${names.length - 20} more` : shown;
}

/** `error`: it cannot be read, or is none of those that are offered: it fails the step, with this sentence. */
export type Choice = { target: string } | { error: string };

/** The largest output that a choice is read from: it is parsed while the run is locked. */
export const CHOICE_BYTES = 1024 * 1024;

/** The output that a dispatch reads its choice from. */
export function choiceOutput({ dispatch, out = [] }: StepSpec): string {
  return sourceOf(dispatch!.from, out).out;
}

/** The step that a dispatch chooses: a string in the JSON of its output, along the fields, one of those it names. */
export function readChoice({ dispatch, out = [] }: StepSpec, output: string | null | undefined): Choice {
  const { from, to } = dispatch!;
  if (output === undefined) return { error: `the choice ${from} was not uploaded` };
  if (output === null) return { error: `the choice ${from} cannot be read: its output is over ${CHOICE_BYTES} bytes` };
  let value: unknown;
  try {
    value = JSON.parse(output);
  } catch {
    return { error: `the choice ${from} cannot be read: the output is not JSON` };
  }
  const choice = valueAlong(sourceOf(from, out).fields, value);
  if (typeof choice === 'string' && to.includes(choice)) return { target: choice };
  return { error: `the choice ${from} is ${shown(choice)}; it must be one of ${to.join(', ')}` };
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
