import { sep } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The compiled file of the threads. Tests run the sources of the server itself, but a thread is of node and reads JavaScript. */
export function workerFile(here = fileURLToPath(import.meta.url)): string {
  const file = here.replace(/worker-file\.[jt]s$/, 'judge-worker.js');
  if (!here.endsWith('.ts')) return file;
  const at = file.lastIndexOf(`${sep}src${sep}`);
  return `${file.slice(0, at)}${sep}dist${file.slice(at)}`;
}
