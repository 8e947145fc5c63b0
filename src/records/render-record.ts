import { createHash } from 'node:crypto';
import { indentJson, toJson } from '../domain/json/raw-json.js';
import type { Bodies } from './record-bodies.sql.js';
import type { ClosedRun, RenderedRecord } from './records.sql.js';

interface OfAttempt {
  seq: number;
  attempt: number;
  name: string;
}

/** Where an output lies within its record. */
export function blobPath({ seq, attempt, name }: OfAttempt): string {
  return `blobs/${seq}.${attempt}-${inPath(name)}`;
}

/** Where a log lies within its record. */
export function logPath({ seq, attempt, name }: OfAttempt): string {
  return `logs/${seq}.${attempt}-${inPath(name)}.log`;
}

/** By their bytes, as `LC_ALL=C sort` has them. */
function inByteOrder(paths: string[]): string[] {
  return paths.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
}

/** Names are harmless where they are taken in; whatever one may hold, it stays one part of a path, and its own. */
function inPath(name: string): string {
  return name.replace(/[^A-Za-z0-9._-]/gu, encodeURIComponent);
}

/**
 * Renders the small files of a closed record. They are stored as rendered, so that a later version of this function
 * changes no record that is sealed. The bodies stay where they are; of them the record holds the sums, those of the logs
 * by their paths. `SHA256SUMS` has the form that `sha256sum -c` reads, by path.
 */
export function renderRecord(closed: ClosedRun, bodies: Bodies, logSums: ReadonlyMap<string, string>): RenderedRecord {
  const { verdict, ...rest } = closed.run;
  const { waited, grants, steps } = closed;
  const files: Record<string, string> = {
    'manifest.json': inLines({ format: 2, ...rest, waiting: story(rest.state, waited), waited, grants }),
    'verdict.json': inLines({ run_id: rest.run_id, state: rest.state, ...verdict }),
  };
  for (const step of steps) files[`steps/${step.seq}-${step.id}.json`] = inLines({ ...step, ...leftBy(step, bodies) });

  const sumOf = new Map([
    ...Object.entries(files).map(([path, text]): [string, string] => [path, sha256(text)]),
    ...bodies.blobs.map((blob): [string, string] => [blobPath(blob), blob.sha256]),
    ...logSums,
  ]);
  const sums = inByteOrder([...sumOf.keys()])
    .map((path) => `${sumOf.get(path)}  ${path}\n`)
    .join('');
  return { files, sums, digest: `sha256:${sha256(sums)}` };
}

/** What a step left, with the file of each; the step's own file says of which attempt. */
function leftBy({ seq }: { seq: number }, { blobs, logs }: Bodies): object {
  return {
    outputs: blobs
      .filter((blob) => blob.seq === seq)
      .map(({ attempt, name, media_type, size }) => {
        return { attempt, name, media_type, size, file: blobPath({ seq, attempt, name }) };
      }),
    logs: logs
      .filter((log) => log.seq === seq)
      .map(({ attempt, name, size, cut }) => {
        return { attempt, name, size, cut, file: logPath({ seq, attempt, name }) };
      }),
  };
}

/** How it waited first; null for a run that never waited. One that was cancelled while it waited was promoted by nobody. */
function story(state: string, [first]: ClosedRun['waited']): object | null {
  if (first === undefined) return null;
  const { whys: promoted_by, ...wait } = first;
  return { ...wait, promoted_by, ended: wait.promoted_at === null ? state : 'PROMOTED' };
}

/** As it is read by a person; what was sent as JSON stays as it was sent. */
function inLines(value: unknown): string {
  return `${indentJson(toJson(value))}\n`;
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
