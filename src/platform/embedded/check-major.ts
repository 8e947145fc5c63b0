import { existsSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { EmbeddedError, EmbeddedVersionError } from './embedded-error.js';
import { listClusters } from './list-clusters.js';

/** Says whether the cluster of this major version is there; refuses to begin beside another version's data. */
export function checkMajor(home: string, cluster: string, major: string): boolean {
  if (existsSync(cluster)) {
    const file = join(cluster, 'PG_VERSION');
    if (!existsSync(file)) {
      throw new EmbeddedError(`${cluster} is not a PostgreSQL data folder (no PG_VERSION). Restore or remove it.`);
    }
    const found = readFileSync(file, 'utf8').trim();
    if (found !== major) {
      throw new EmbeddedVersionError(
        `${cluster} was written by PostgreSQL ${found}, this is ${major}. ${advice(cluster)}`,
      );
    }
    return true;
  }
  const other = listClusters(home).at(-1);
  if (other !== undefined) {
    const found = basename(other).slice('postgres-'.length);
    throw new EmbeddedVersionError(
      `The data in ${other} is PostgreSQL ${found}'s, this Mediator brings ${major}. ${advice(other)}`,
    );
  }
  return false;
}

function advice(folder: string): string {
  return (
    `To keep it, dump it (pg_dump) with the Mediator that wrote it, move ${folder} away, start this one and restore the dump; ` +
    `to begin anew, move or remove ${folder}.`
  );
}
