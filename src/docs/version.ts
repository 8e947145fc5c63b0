import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The version that package.json states; found upwards, since the compiled file lies deeper than its source. */
export const VERSION = readVersion(dirname(fileURLToPath(import.meta.url)));

function readVersion(folder: string): string {
  const file = join(folder, 'package.json');
  if (existsSync(file)) return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
  if (dirname(folder) === folder) throw new Error('there is no package.json above this file');
  return readVersion(dirname(folder));
}
