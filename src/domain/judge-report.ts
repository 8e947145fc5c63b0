import type { StepSpec } from './contract/contract.js';

/** What a node reports of a step. */
export interface Report {
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
export function judgeReport(report: Report, spec: StepSpec, attempt: number, uploaded: ReadonlySet<string>): Judgement {
  if (report.error !== undefined) return { kind: 'failed' };
  if (spec.loop && attempt < spec.loop.max && !untilHolds(spec.loop.until, report, uploaded)) return { kind: 'again' };
  const missing = [...new Set([...(spec.out ?? []), ...(report.produced ?? [])])].filter((name) => !uploaded.has(name));
  if (missing.length > 0) return { kind: 'failed', error: `not uploaded in this attempt: ${listed(missing)}` };
  const failed = (report.exit_code ?? 0) !== 0 && spec.allow_failure !== true;
  return failed ? { kind: 'failed' } : { kind: 'done' };
}

type Until = NonNullable<StepSpec['loop']>['until'];

function untilHolds(until: Until, report: Report, uploaded: ReadonlySet<string>): boolean {
  if (until.exit_code !== undefined && report.exit_code !== until.exit_code) return false;
  return (until.produced ?? []).every((name) => uploaded.has(name));
}

function listed(names: string[]): string {
  const shown = names.slice(0, 20).join(', ');
  return names.length > 20 ? `${shown} and ${names.length - 20} more` : shown;
}
