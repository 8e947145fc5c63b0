/** What a node reports of a step. */
export interface Report {
  exit_code?: number;
  produced?: string[];
  error?: string;
}

export interface Judgement {
  state: 'DONE' | 'FAILED';
  /** Why it FAILED, unless the report says so itself or the exit code does. */
  error?: string;
}

/**
 * Whether a step that was reported is DONE or FAILED: an error fails it, so does a name in `produced` that was not
 * uploaded in this attempt, and an exit code other than 0 unless the contract allows it.
 */
export function judgeReport(report: Report, allowFailure: boolean, uploaded: ReadonlySet<string>): Judgement {
  if (report.error !== undefined) return { state: 'FAILED' };
  const missing = (report.produced ?? []).filter((name) => !uploaded.has(name));
  if (missing.length > 0) {
    return { state: 'FAILED', error: `not uploaded in this attempt: ${missing.slice(0, 20).join(', ')}` };
  }
  const failed = (report.exit_code ?? 0) !== 0 && !allowFailure;
  return { state: failed ? 'FAILED' : 'DONE' };
}
