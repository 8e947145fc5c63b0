import type { StepSpec } from '../../src/domain/contract/contract.js';
import type { ReportedResult } from '../../src/domain/steps/judge-result.js';

/** How a node does its step: well, as a loop is sent round again, or badly in one of many ways. */
export const WAYS = ['well', 'again', 'exits', 'breaks', 'forgets', 'chooses nothing', 'boasts', 'tells all'] as const;
export type Way = (typeof WAYS)[number];

export interface Done {
  report: ReportedResult;
  uploads: Record<string, string>;
}

/** What a node uploads and reports of its step; `choice` is that of a dispatch. */
export function doneIn(way: Way, spec: StepSpec, choice: number): Done {
  const { out = [], dispatch, loop } = spec;
  const report: ReportedResult = spec.run ? { exit_code: 0 } : {};
  const uploads = Object.fromEntries(out.map((name) => [name, '{}']));
  if (dispatch) uploads[out[0]!] = JSON.stringify(chosen(spec, choice, way === 'chooses nothing'));
  if (way === 'again' && loop) {
    if (spec.run) report.exit_code = 1;
    else delete uploads[out[0]!];
  }
  if (way === 'exits' && spec.run) report.exit_code = 3;
  if (way === 'breaks') return { report: { error: 'it broke' }, uploads };
  if (way === 'forgets' && out.length > 0) delete uploads[out.at(-1)!];
  if (way === 'boasts') report.produced = ['never-uploaded'];
  if (way === 'tells all') report.produced = Object.keys(uploads);
  return { report, uploads };
}

/** What a person answers: what the step's schema wants, and one of its choices. */
export function chosen({ dispatch }: StepSpec, choice: number, nowhere = false): Record<string, unknown> {
  if (!dispatch) return {};
  return { next: nowhere ? 'nowhere' : dispatch.to[choice % dispatch.to.length] };
}
