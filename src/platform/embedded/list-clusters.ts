import { readdirSync } from 'node:fs';
import { join } from 'node:path';

/** The cluster folders in a home, of any major version. */
export function listClusters(home: string): string[] {
  try {
    return readdirSync(home)
      .filter((name) => /^postgres-\d+$/.test(name))
      .sort()
      .map((name) => join(home, name));
  } catch {
    return [];
  }
}
