import { createHash } from 'node:crypto';
import type { ClosedRun } from './read-closed.sql.js';

/** A record as it is kept: its small files by path, the list of their sums, and what seals them. */
export interface RenderedRecord {
  files: Record<string, string>;
  sums: string;
  digest: string;
}

/**
 * Renders the files of a closed record. They are stored as rendered, so that a later version of this function changes no
 * record that is sealed. `SHA256SUMS` has the form that `sha256sum -c` reads, by path.
 */
export function renderRecord({ run, waited, grants, steps }: ClosedRun): RenderedRecord {
  const { verdict, ...rest } = run;
  const files: Record<string, string> = {
    'manifest.json': toJson({ format: 1, ...rest, waited: story(run.state, waited), grants }),
    'verdict.json': toJson({ run_id: run.run_id, state: run.state, ...verdict }),
  };
  for (const step of steps) files[`steps/${step.seq}-${step.id}.json`] = toJson(step);
  const sums = Object.keys(files)
    .sort()
    .map((path) => `${sha256(files[path]!)}  ${path}\n`)
    .join('');
  return { files, sums, digest: `sha256:${sha256(sums)}` };
}

/** Null for a run that never waited; one that was cancelled while it waited was promoted by nobody. */
function story(state: string, waited: ClosedRun['waited']): object | null {
  if (waited === null) return null;
  return { ...waited, ended: waited.promoted_at === null ? state : 'PROMOTED' };
}

function toJson(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
